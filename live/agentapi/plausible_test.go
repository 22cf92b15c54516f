package agentapi

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/model/job"
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

func (w anyGeneration) Hello(context.Context, job.ID, *Hello) (*Welcome, error) {
	return new(Welcome), nil
}

func (w anyGeneration) Checkpoint(context.Context, job.ID, *Checkpoint) error { return nil }

// told hands a checkpoint to an account, and returns whether it is taken.
func (a *account) told(t *testing.T, step int64, progress float64) bool {
	t.Helper()
	_, err := a.checkpoint(t.Context(), anyGeneration{newFakeJobs("j1")}, &Checkpoint{Generation: 1, Step: step, Progress: progress})
	return err == nil
}

// Checkpoints and hellos are as plausible as reports: an impossible one is refused, and honest ones are taken after it.
func TestCheckpoint_and_hello_that_are_implausible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount("j1", &Options{Rate: 1, Burst: 1})
		hello := func(r *Restored) bool {
			_, err := a.hello(t.Context(), anyGeneration{newFakeJobs("j1")}, &Hello{Generation: 1, WorldSize: 4, Batch: BatchLimits{Init: 16, Max: 16}, Restored: r})
			return err == nil
		}
		first := hello(&Restored{Step: 5, Progress: 80})
		time.Sleep(10 * time.Second)
		got := []bool{
			first, !a.told(t, 1<<53-1, 80), !a.told(t, 100, 1e18), !a.told(t, 1, 1e18), a.told(t, 100, 1600),
			!hello(&Restored{Step: 5, Progress: 1e18}), !hello(&Restored{Step: 1<<53 - 1, Progress: 80}), hello(&Restored{Step: 5, Progress: 80}),
			says(t, a, trained(1, 1000, 16000))[0], !a.told(t, 1<<53-1, 16000), a.told(t, 1000, 16000), !a.told(t, 999, 16000), a.told(t, 1001, 16016),
		}
		if i := slices.Index(got, false); i >= 0 {
			t.Errorf("message %d of %d: the wrong verdict", i, len(got))
		}
	})
}

// A first checkpoint that cannot be checked, such as after a restart of the scheduler, is no ratchet: after an honest report,
// honest checkpoints replace it. A late one never replaces a plausible one.
func TestCheckpoint_is_no_ratchet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount("j1", &Options{Rate: 1, Burst: 1})
		got := []bool{
			a.told(t, 1<<53-1, 1e18), !a.told(t, 1000, 16000), says(t, a, trained(1, 1000, 16000))[0],
			a.told(t, 1000, 16000), !a.told(t, 998, 16000), !a.told(t, 999, 16000), a.told(t, 2000, 32000),
		}
		if i := slices.Index(got, false); i >= 0 {
			t.Errorf("message %d of %d: the wrong verdict", i, len(got))
		}
	})
}

// A sequence number that would hide all later reports is refused; one that could not be checked hides none.
func TestReport_number_hides_no_report(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newFakeJobs("j1")
		a := newAccount("j1", &Options{Rate: 1, Burst: 1})
		count := func(sequence, step int64) int {
			_, _ = a.report(t.Context(), anyGeneration{j}, trained(sequence, step, 16*float64(step)))
			return len(j.reports["j1"])
		}
		if got := []int{count(1<<53-1, 10), count(2, 20), count(3, 30), count(3, 30), count(1<<53-1, 40), count(4, 40)}; !slices.Equal(got, []int{1, 1, 2, 2, 2, 3}) {
			t.Errorf("reports %v, want each new one to be taken but the first", got)
		}
	})
}

// The largest batch and the shortest step of a job stay possible after smaller and longer ones.
func TestReport_remembers_the_fastest(t *testing.T) {
	large := func(r *Report, local int, step float64) *Report {
		r.Batch.Local, r.StepTime = local, step
		return r
	}
	synctest.Test(t, func(t *testing.T) {
		a := newAccount("j1", &Options{Rate: 1, Burst: 1})
		a.taken.begin(1)
		a.taken.pace = pace{workers: 4, at: time.Now()}
		time.Sleep(time.Minute)
		got := says(t, a, large(trained(1, 100, 25600), 64, 0.01), large(trained(2, 200, 27200), 4, 1))
		time.Sleep(time.Minute)
		got = append(got, says(t, a, large(trained(3, 300, 52800), 4, 1))...)
		time.Sleep(time.Minute)
		got = append(got, says(t, a, large(trained(4, 6300, 100000), 4, 1))...)
		if !slices.Equal(got, []bool{true, true, true, true}) {
			t.Errorf("taken %v, want all", got)
		}
	})
}

// The most progress that is plausible is a multiple of the samples in the steps since the last report, and of one step
// if there were none.
func TestProgress_at_the_limit(t *testing.T) {
	now := time.Now()
	for steps, factor := range map[int64]float64{0: 1, 1: 1, 2: 2, 7: 7} {
		r := &record{pace: pace{workers: 2, samples: 64, step: time.Millisecond, at: now}, step: 100, progress: 6400}
		most := r.progress + slack*factor*64
		if err := r.implausible(claim{100 + steps, most}, 0, now); err != nil {
			t.Errorf("%d steps: %v", steps, err)
		}
		if err := r.implausible(claim{100 + steps, most + 1}, 0, now); err == nil {
			t.Errorf("%d steps: a sample more than %v is accepted", steps, most)
		}
	}
}

// A text of the longest shown length is whole, a longer one ends in dots.
func TestShorten(t *testing.T) {
	for n, want := range map[int]string{0: "", shown - 1: strings.Repeat("x", shown-1), shown: strings.Repeat("x", shown), shown + 1: strings.Repeat("x", shown) + "..."} {
		if got := shorten(strings.Repeat("x", n)); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}
