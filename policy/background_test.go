package policy_test

import (
	"context"
	"errors"
	"testing"

	"github.com/oxgang/oxgang/policy"
)

func TestWork_Do(t *testing.T) {
	failed := errors.New("no solution")
	for name, c := range map[string]struct {
		work policy.Work
		want any
	}{
		"a result": {func(context.Context) any { return 7 }, 7},
		"an error": {func(context.Context) any { return failed }, failed},
		"nothing":  {func(context.Context) any { return nil }, nil},
	} {
		if got := c.work.Do(t.Context()); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	panics := policy.Work(func(context.Context) any { panic("out of luck") })
	if err, ok := panics.Do(t.Context()).(error); !ok || err.Error() != "background work panicked: out of luck" {
		t.Errorf("a panic: got %v, want an error that tells it", err)
	}
}
