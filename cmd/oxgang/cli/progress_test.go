package cli

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// A terminal gets a bar that is cleared in the end, everything else a plain
// line now and then, and who asks for quiet nothing.
func TestProgress(t *testing.T) {
	long := time.Now().Add(-time.Hour) // since the last message
	tests := []struct {
		name     string
		terminal bool
		quiet    bool
		want     string
	}{
		{"terminal", true, false, "\r[====================                    ] 2/4 jobs\r\x1b[K"},
		{"file", false, false, "2 of 4 jobs have ended\n"},
		{"quiet", false, true, ""},
		{"quiet_terminal", true, true, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			p := NewProgress(&b, test.quiet, 4)
			p.terminal = test.terminal
			p.step() // too soon to tell
			p.shown = long
			p.step()
			p.Done()
			if b.String() != test.want {
				t.Errorf("got %q, want %q", b.String(), test.want)
			}
		})
	}
	if p := NewProgress(io.Discard, false, 1); p.terminal {
		t.Error("a writer that is no file is taken for a terminal")
	}
}
