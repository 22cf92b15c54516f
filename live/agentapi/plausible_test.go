package agentapi

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// trained returns a report of a job of 4 workers that trains 4 samples each in a step of 10 ms.
func trained(sequence, step int64, progress float64) *Report {
	return &Report{Generation: 1, Sequence: sequence, Step: step, Progress: progress, Batch: Batch{Local: 4}, StepTime: 0.01}
}

// says hands reports to the account of a job, and returns which are taken.
func says(t *testing.T, a *account, reports ...*Report) []bool {
	t.Helper()
	taken := make([]bool, len(reports))
	for i, r := range reports {
		_, err := a.report(t.Context(), anyGeneration{newFakeJobs("j1")}, r)
		taken[i] = err == nil
	}
	return taken
}

// A report that nothing measured leaves room for is refused, and honest ones are taken after it.
func TestReport_that_is_implausible(t *testing.T) {
	for name, bogus := range map[string]*Report{
		"progress":          trained(2, 2000, 1e18),
		"steps":             trained(2, 1<<50, 32000),
		"progress of steps": trained(2, 1<<50, 1e16),
		"a faster step":     {Generation: 1, Sequence: 2, Step: 1 << 50, Progress: 32000, Batch: Batch{Local: 4}, StepTime: 1e-12},
		"a larger batch":    {Generation: 1, Sequence: 2, Step: 2000, Progress: 1e18, Batch: Batch{Local: 4}, StepTime: 0.01},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newAccount("j1", &Options{Rate: 1, Burst: 1})
			a.taken.begin(1)
			a.taken.pace = pace{workers: 4, at: time.Now()}
			time.Sleep(10 * time.Second)
			first := says(t, a, trained(1, 1000, 16000))
			time.Sleep(10 * time.Second)
			if got := slices.Concat(first, says(t, a, bogus, trained(2, 2000, 32000), trained(3, 3000, 48000))); !got[0] || got[1] || !got[2] || !got[3] {
				t.Errorf("%s: taken %v, want all but the second", name, got)
			}
		})
	}
}

// A first report that cannot be checked is no ratchet: two that agree are believed against it.
func TestReport_is_no_ratchet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount("j1", &Options{Rate: 1, Burst: 1})
		got := says(t, a, trained(1, 1<<50, 1e18), trained(2, 1000, 16000), trained(3, 2000, 32000), trained(4, 3000, 48000))
		if !got[0] || got[1] || !got[2] || !got[3] {
			t.Errorf("taken %v, want all but the second: two honest ones are believed", got)
		}
	})
}

// What is late, comes in a burst or follows a change of the batch is plausible.
func TestReport_that_is_unusual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount("j1", &Options{Rate: 1, Burst: 1})
		a.taken.begin(1)
		a.taken.pace = pace{workers: 4, at: time.Now()}
		burst := says(t, a, trained(1, 1000, 16000), trained(2, 2000, 32000), trained(3, 5000, 80000))
		time.Sleep(24 * time.Hour)
		late := trained(4, 5000+8_640_000, 80000+8_640_000*64)
		late.Batch.Local = 16
		if got := slices.Concat(burst, says(t, a, late)); !got[0] || !got[1] || !got[2] || !got[3] {
			t.Errorf("taken %v, want all", got)
		}
	})
}
