package config

import (
	"testing"

	"github.com/oxgang/oxgang/simulate/workload"

	"github.com/google/go-cmp/cmp"
)

func TestLikenesses(t *testing.T) {
	c := Default()
	c.Like = []string{"h100=a100x2.2", "max1=rtxx0.5"}
	got, err := c.Likenesses()
	want := []workload.Likeness{{Type: "h100", Like: "a100", Speed: 2.2}, {Type: "max1", Like: "rtx", Speed: 0.5}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for _, bad := range []string{"h100", "h100=a100", "=a100x2", "h100=x2", "h100=a100x0", "h100=a100xNaN", "h100=a100x-1"} {
		c.Like = []string{bad}
		if err := c.Validate(); err == nil {
			t.Errorf("%q: no complaint", bad)
		}
	}
}
