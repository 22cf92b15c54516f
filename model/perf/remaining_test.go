package perf_test

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// running is the status of a job that has held two GPUs for an hour and reported after 40 min.
func running() *job.Status {
	return &job.Status{
		Phase: job.Running, Since: start, Reported: start.Add(40 * time.Minute), Progress: 100,
		Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a"}},
	}
}

func TestRemainingProgress(t *testing.T) {
	for name, test := range map[string]struct {
		target, rate float64
		change       func(*job.Status)
		want         float64
	}{
		"what was reported, and what its speed has added since":  {1e6, 0.5, nil, 100 + 0.5*1200},
		"one that never reported is as far as it has run":        {1e6, 0.5, func(s *job.Status) { s.Reported, s.Progress = time.Time{}, 0 }, 0.5 * 3600},
		"progress of which it is not known since when it stands": {1e6, 0.5, func(s *job.Status) { s.Reported = time.Time{} }, 100},
		"no more than its target":                                {300, 0.5, nil, 300},
		"never less than what was reported":                      {50, 0.5, nil, 100},
		"of unknown speed":                                       {1e6, 0, nil, 100},
		"of a speed that is no number":                           {1e6, math.Inf(1), nil, 100},
		"nothing while it restores":                              {1e6, 0.5, func(s *job.Status) { s.Phase = job.Restoring }, 100},
		"nothing while it waits":                                 {1e6, 0.5, func(s *job.Status) { s.Phase, s.Allocation = job.Waiting, cluster.Allocation{} }, 100},
		"only since it holds what it holds":                      {1e6, 0.5, func(s *job.Status) { s.Since = start.Add(50 * time.Minute) }, 100 + 0.5*600},
	} {
		t.Run(name, func(t *testing.T) {
			st := running()
			if test.change != nil {
				test.change(st)
			}
			b := perf.Remaining{Spec: &job.Spec{Target: test.target}, Status: st, Now: start.Add(time.Hour), Held: test.rate}
			if got := b.Progress(); got != test.want {
				t.Errorf("progress %v, want %v", got, test.want)
			}
		})
	}
}

// TestRemainingTime: whatever is known of a job, the answer is a time, and says what it rests on.
func TestRemainingTime(t *testing.T) {
	for name, test := range map[string]struct {
		target, mean, rate float64
		want               time.Duration
		from               perf.WorkSource
	}{
		"stated":                               {1100, 0, 2, 500 * time.Second, perf.FromStated},
		"stated, though its class says more":   {1100, 9e9, 2, 500 * time.Second, perf.FromStated},
		"its class":                            {0, 300, 2, 100 * time.Second, perf.FromClass},
		"longer than the mean of its class":    {0, 60, 2, 50 * time.Second, perf.FromClass},
		"nothing: as long again as it has run": {0, 0, 2, time.Hour, perf.FromAttained},
		"samples, and no speed":                {1100, 0, 0, time.Hour, perf.FromAttained},
		"done":                                 {100, 0, 2, 0, perf.FromStated},
		"longer than can be told":              {1e300, 0, 1e-300, perf.Endless, perf.FromStated},
		"a speed that is no number":            {1100, 0, math.NaN(), time.Hour, perf.FromAttained},
	} {
		t.Run(name, func(t *testing.T) {
			b := perf.Remaining{Spec: &job.Spec{Target: test.target}, Status: running(), Now: start.Add(time.Hour), Mean: test.mean}
			if got, from := b.Time(test.rate); got != test.want || from != test.from {
				t.Errorf("%v from %v, want %v from %v", got, from, test.want, test.from)
			}
		})
	}
}
