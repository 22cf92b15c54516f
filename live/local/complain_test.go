package local

import (
	"errors"
	"testing"
)

func TestComplaint_is_one_line(t *testing.T) {
	if got, want := complaint("a", errors.New("no \"x\x1b[2J\ny\"")), `job a: no "x\u001b[2J\ny"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
