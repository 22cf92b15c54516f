package run

import (
	"context"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
)

func steady(t *testing.T, window string) *config.Config {
	t.Helper()
	c := config.Default()
	for _, kv := range [][2]string{{"cluster", "homog64"}, {"generate.jobs", "60"}, {"horizon", "60h"}, {"policy", "fifo"}, {"window", window}} {
		if err := c.Set(kv[0], kv[1], "test"); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestWindow ends with the jobs of the window, and says of them what the whole
// run says.
func TestWindow(t *testing.T) {
	run := func(window string) (*Inputs, *Run) {
		c := steady(t, window)
		in, err := Load(c, Files{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Simulate(context.Background(), c, in, "fifo")
		if err != nil {
			t.Fatal(err)
		}
		return in, r
	}
	in, part := run("20-29")
	_, all := run("")
	if part.Unfinished || part.Result.Summary.Done != 10 {
		t.Fatalf("%d jobs done, unfinished %v; want the 10 of the window", part.Result.Summary.Done, part.Unfinished)
	}
	if part.Result.Summary.Rounds >= all.Result.Summary.Rounds {
		t.Errorf("%d rounds, want fewer than the %d of all jobs", part.Result.Summary.Rounds, all.Result.Summary.Rounds)
	}
	ends := map[string]metrics.JobResult{}
	for _, j := range all.Result.Jobs {
		ends[string(j.ID)] = j
	}
	for i, j := range part.Result.Jobs {
		if want := in.Arrivals[20+i].Spec.ID; j.ID != want || j.JCT != ends[string(j.ID)].JCT {
			t.Errorf("job %d of the window: %s with JCT %g, want %s with that of the whole run, %g", i, j.ID, j.JCT, want, ends[string(j.ID)].JCT)
		}
	}
}

func TestWindow_beyond_the_trace(t *testing.T) {
	c := steady(t, "50-60")
	in, err := Load(c, Files{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Simulate(context.Background(), c, in, "fifo"); err == nil || !strings.Contains(err.Error(), "window 50-60: there are 60 jobs") {
		t.Errorf("got error %v, want the window and the number of jobs", err)
	}
}
