package run

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
)

// TestWork_left compares, in every round of a run without preemption, the estimated remaining time of each running
// job with the true time. Jobs with a given duration never report, and their estimate is exact to the second. For
// others the batch size grows with the gradient noise, which no estimate foresees: they end early, and a tenth of
// the estimates are above three times the truth.
func TestWork_left(t *testing.T) {
	for name, test := range map[string]struct {
		settings    []string
		median, p90 float64 // most, of |believed - true| / true, from a minute before the end
	}{
		"durations":               {[]string{"generate.kind", "fixed-duration", "cluster", "homog64"}, 1e-6, 1e-6},
		"durations, Lyra's":       {[]string{"generate.kind", "lyra-testbed", "cluster", "v100:8x8", "jobs.restart", "63s"}, 1e-6, 1e-6},
		"fixed batch, true speed": {[]string{"generate.kind", "synergy", "cluster", "synergy32", "generate.load", "2", "estimate.mode", "oracle"}, 1e-6, 1e-6},
		"adaptive, true speed":    {[]string{"estimate.mode", "oracle"}, 0.1, 2.5},
		"adaptive, learned":       {nil, 0.1, 2.5},
	} {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			set(t, c, append([]string{"generate.jobs", "80"}, test.settings...)...)
			in, err := Load(c, textFiles(nil))
			if err != nil {
				t.Fatal(err)
			}
			w := &guessing{said: map[job.ID][]guess{}}
			if _, err := Simulate(t.Context(), c, in, "easy", w); err != nil {
				t.Fatal(err)
			}
			slices.Sort(w.errors)
			n := len(w.errors)
			if n < 500 {
				t.Fatalf("%d guesses, want at least 500", n)
			}
			median, p90 := w.errors[n/2], w.errors[n*9/10]
			t.Logf("%d guesses: relative error %.4f in the median, %.4f at the 90th percentile; mean bias %+.4f", n, median, p90, w.bias/float64(n))
			if median > test.median || p90 > test.p90 {
				t.Errorf("relative error %.4f and %.4f, want at most %v and %v", median, p90, test.median, test.p90)
			}
		})
	}
}

// A guess is what was believed of a running job at one time.
type guess struct {
	at   time.Time
	left time.Duration
}

// guessing observes guesses, and what came of them.
type guessing struct {
	said   map[job.ID][]guess
	errors []float64
	bias   float64
}

func (w *guessing) Event(now time.Time, ev scheduler.Event) {
	end, ok := ev.(scheduler.Exited)
	if !ok || end.Outcome != scheduler.Done {
		return
	}
	for _, g := range w.said[end.Job] {
		truth := now.Sub(g.at).Seconds()
		if truth < 60 {
			continue
		}
		off := (g.left.Seconds() - truth) / truth
		w.errors, w.bias = append(w.errors, math.Abs(off)), w.bias+off
	}
	delete(w.said, end.Job)
}

func (w *guessing) Round(s *policy.Snapshot, _ *policy.Plan, _ []scheduler.Action) {
	if s == nil {
		return
	}
	for _, j := range s.Jobs {
		if j.Phase != job.Running {
			continue
		}
		rate, _ := j.Speed(j.Allocation)
		b := s.Basis(j)
		if left, from := b.Time(rate); from == perf.FromStated {
			w.said[j.ID] = append(w.said[j.ID], guess{s.Now, left})
		}
	}
}
