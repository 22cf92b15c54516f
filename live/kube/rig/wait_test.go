package rig

import (
	"errors"
	"testing"
)

// TestUntil: what cannot come any more is not waited for.
func TestUntil(t *testing.T) {
	calls := 0
	err := Until(t.Context(), "it", func() error {
		if calls++; calls < 3 {
			return errors.New("not yet")
		}
		return Fatal{Err: errors.New("it ended")}
	})
	if err == nil || err.Error() != "wait for it: it ended" || calls != 3 {
		t.Errorf("error %v after %d calls, want it ended after 3", err, calls)
	}
}
