package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/oxgang/oxgang/experiments"
	"github.com/oxgang/oxgang/workload"
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
			p := newProgress(&b, test.quiet, 4)
			p.terminal = test.terminal
			p.step() // too soon to tell
			p.shown = long
			p.step()
			p.done()
			if b.String() != test.want {
				t.Errorf("got %q, want %q", b.String(), test.want)
			}
		})
	}
	if p := newProgress(io.Discard, false, 1); p.terminal {
		t.Error("a writer that is no file is taken for a terminal")
	}
}

// Seeds that generate other numbers of jobs than the first do not make the bar
// longer than its frame.
func TestJobsOf(t *testing.T) {
	var tasks []*task
	for _, jobs := range []int{2, 3} {
		tasks = append(tasks, &task{inputs: &experiments.Inputs{Arrivals: make([]workload.Arrival, jobs)}})
	}
	if got := jobsOf(tasks); got != 5 {
		t.Errorf("got %d jobs, want 5", got)
	}
}
