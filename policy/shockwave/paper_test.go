package shockwave_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/shockwave"
)

// served plays some rounds and returns in how many each job ran.
func served(w *policytest.Toy, p policy.Policy, rounds int) map[job.ID]int {
	had := map[job.ID]int{}
	for range rounds {
		s := w.Snapshot()
		plan := w.Play(p)
		for i, j := range s.Jobs {
			if plan.Jobs[i].Allocation.GPUs > 0 {
				had[j.ID]++
			}
		}
	}
	return had
}

// Shockwave §4.2: with equal budgets, equal jobs have equal parts of the market.
func TestEqual_jobs_have_equal_time(t *testing.T) {
	w := policytest.NewToy(t, 2)
	for i := range 6 {
		w.Submit(job.ID(fmt.Sprint(i)), 1, 1000*time.Hour)
	}
	for id, n := range served(w, fresh(t, nil), 600) {
		if math.Abs(float64(n)-200) > 20 { // a window
			t.Errorf("job %s: %d of 600 rounds, want 200", id, n)
		}
	}
}

// Shockwave §2.1, §4.1: budgets are priorities.
func TestWeights_are_budgets(t *testing.T) {
	w := policytest.NewToy(t, 1)
	w.Submit("light", 1, 100*time.Hour)
	w.Submit("heavy", 1, 100*time.Hour).Weight = 2
	had := served(w, fresh(t, nil), 600)
	if had["heavy"] < had["light"]*4/3 {
		t.Errorf("heavy ran in %d rounds, light in %d, want it to run for longer", had["heavy"], had["light"])
	}
}

// Shockwave §8.4: long jobs are "opportunistically prioritized", so that all end early,
// "without hurting small and medium jobs": one of an hour and many of ten minutes, on two
// GPUs, end little after the work could, and no short one is treated badly.
func TestLong_jobs_start_early(t *testing.T) {
	w, p := policytest.NewToy(t, 2), fresh(t, nil)
	w.Submit("long", 1, time.Hour)
	for i := range 6 {
		w.Submit(job.ID(fmt.Sprint(i)), 1, 10*time.Minute)
	}
	for len(w.Jobs) > 0 {
		w.Play(p)
	}
	for id, end := range w.Ends {
		alone := 10 * time.Minute
		if id == "long" {
			alone = time.Hour
		}
		if rho := end.Minutes() / alone.Minutes() / (7. / 2); end > 70*time.Minute || id != "long" && rho > 1.8 {
			t.Errorf("job %s: ends after %v with a fairness of %.2f, want all within 70m0s and short ones with 1.8 at most", id, end, rho)
		}
	}
}

// Without makespan in the objective, the long job has no such priority.
func TestLambda_is_what_makes_long_jobs_start_early(t *testing.T) {
	last := func(lambda float64) (end time.Duration) {
		w, p := policytest.NewToy(t, 2), fresh(t, func(o *shockwave.Options) { o.Lambda = lambda })
		w.Submit("long", 1, time.Hour)
		for i := range 6 {
			w.Submit(job.ID(fmt.Sprint(i)), 1, 10*time.Minute)
		}
		for len(w.Jobs) > 0 {
			w.Play(p)
		}
		return w.Ends["long"]
	}
	if with, without := last(1), last(0); with >= without {
		t.Errorf("the long job ends after %v with a price of the makespan, %v without", with, without)
	}
}

// Shockwave §6.1: the program is solved anew "when the planned rounds elapse, or when jobs
// arrive or complete"; the window that was planned is followed until then.
func TestWindow_is_followed_until_something_happens(t *testing.T) {
	w := policytest.NewToy(t, 2)
	for i := range 4 {
		w.Submit(job.ID(fmt.Sprint(i)), 1, 100*time.Hour)
	}
	p, planned := fresh(t, nil), []int{}
	for round := range 30 {
		if round == 15 {
			w.Submit("new", 1, time.Hour)
		}
		if plan := w.Play(p); plan.Background != nil {
			planned = append(planned, round)
		}
	}
	// The first is for rounds 1 to 20, the one after the arrival for 16 to 35.
	if got, want := fmt.Sprint(planned), "[0 15]"; got != want {
		t.Errorf("planned in rounds %s, want %s", got, want)
	}
}

// A window that elapses is followed by the next without a gap.
func TestWindow_elapses(t *testing.T) {
	w := policytest.NewToy(t, 1)
	w.Submit("a", 1, 100*time.Hour)
	w.Submit("b", 1, 100*time.Hour)
	p, planned := fresh(t, func(o *shockwave.Options) { o.Window = 4 }), []int{}
	for round := range 12 {
		if plan := w.Play(p); plan.Background != nil {
			planned = append(planned, round)
		}
	}
	if got, want := fmt.Sprint(planned), "[0 4 8]"; got != want {
		t.Errorf("planned in rounds %s, want %s", got, want)
	}
}

// Shockwave §7: "the reactive mode requires Shockwave to invalidate its current schedule
// [...] the lazy mode continues the original schedule".
func TestBatch_sizes_that_change(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		w := policytest.NewToy(t, 1)
		j := w.Submit("a", 1, 100*time.Hour)
		j.BatchSize, j.Spec.Batch = 8, job.BatchLimits{Init: 8, Max: 16}
		j.Schedule = job.BatchSchedule{Mode: job.GNS, Epochs: 1000, Sizes: []int{8, 16}}
		w.Submit("b", 1, 100*time.Hour)
		p, planned := fresh(t, func(o *shockwave.Options) { o.Lazy = lazy }), 0
		for round := range 15 {
			if round >= 10 { // in the first of its rounds from then on
				w.Jobs[0].Status.Batch = job.BatchSize{Local: 16}
			}
			if plan := w.Play(p); plan.Background != nil {
				planned++
			}
		}
		if want := map[bool]int{false: 2, true: 1}[lazy]; planned != want {
			t.Errorf("lazy %t: planned %d times, want %d", lazy, planned, want)
		}
	}
}

// Shockwave App. H: "Idle resources are not allowed when there are ready jobs".
func TestWork_is_conserved(t *testing.T) {
	w := policytest.NewToy(t, 4)
	for i, gpus := range []int{4, 1, 2, 1, 2, 1} {
		w.Submit(job.ID(fmt.Sprint(i)), gpus, time.Duration(3+i)*7*time.Minute)
	}
	p := fresh(t, nil)
	for len(w.Jobs) > 0 {
		s := w.Snapshot()
		plan := w.Play(p)
		idle, least := 4, 5
		for i, j := range s.Jobs {
			if idle -= plan.Jobs[i].Allocation.GPUs; plan.Jobs[i].Allocation.IsZero() {
				least = min(least, j.GPUs)
			}
		}
		if least <= idle {
			t.Fatalf("round %d: %d GPUs idle, and a job waits for %d", s.Round, idle, least)
		}
	}
}

// A planner that fails leaves the last good plan standing, and says so.
func TestPlanning_that_fails(t *testing.T) {
	w := policytest.NewToy(t, 1)
	w.Submit("a", 1, 100*time.Hour)
	w.Submit("b", 1, 100*time.Hour)
	p := fresh(t, nil)
	w.Play(p)
	good := w.Play(p)
	s := w.Snapshot()
	s.Computed = errors.New("out of time")
	bad, err := p.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if bad.Stats.Failed != "out of time" || bad.Stats.Objective != good.Stats.Objective || bad.Stats.Objective == 0 {
		t.Errorf("got %+v, want it to have failed, and the plan of before: %+v", bad.Stats, good.Stats)
	}
}

// A plan says how good it is, and what a GPU is worth in it.
func TestPlan_has_a_bound_and_prices(t *testing.T) {
	w := policytest.NewToy(t, 2)
	for i := range 5 {
		w.Submit(job.ID(fmt.Sprint(i)), 1, time.Duration(1+i)*time.Hour)
	}
	p := fresh(t, nil)
	w.Play(p)
	plan := w.Play(p)
	if st := plan.Stats; st.Bound < st.Objective || st.Iterations == 0 || st.Gap > 0.01 {
		t.Errorf("got %+v, want a bound, and a gap of at most 1 %%", st)
	}
	if len(plan.Prices) != 1 || !(plan.Prices[0].Price > 0) {
		t.Errorf("prices %v, want one, above 0", plan.Prices)
	}
}

// Worker scaling (§8.2: the market "can be easily re-parameterized to support" it): of two
// jobs that may have 1 to 4 GPUs each, the one that scales has more of them; the other, whose
// fairness grows as it waits, is not forgotten.
func TestElastic_jobs_have_the_GPUs_that_suit_them(t *testing.T) {
	w := policytest.NewToy(t, 4)
	w.Elastic("scales", 4, 50*time.Hour, 1, 1.9, 2.7, 3.6)
	w.Elastic("does not", 4, 50*time.Hour, 1, 1.05, 1.1, 1.1)
	p := fresh(t, func(o *shockwave.Options) { o.Lambda = 0 })
	gpus := map[job.ID]int{}
	for range 500 {
		w.Play(p)
		for _, j := range w.Jobs {
			gpus[j.ID] += j.Allocation.GPUs
		}
	}
	if gpus["scales"] < gpus["does not"]*6/5 || gpus["does not"] < 50 {
		t.Errorf("GPU rounds %v, want most for the one that scales, some for the other", gpus)
	}
}

// On several GPU types, jobs run for a whole window on the type that suits them.
func TestGPU_types_go_to_those_they_suit(t *testing.T) {
	w := policytest.NewToy(t, 1, 1)
	w.Submit("any", 1, 50*time.Hour)
	picky := w.Submit("picky", 1, 50*time.Hour)
	picky.Perf = &byType{"a": 1, "b": 4}
	p := fresh(t, nil)
	w.Play(p)
	for range 40 {
		w.Play(p)
		if on := w.Jobs[1].Allocation.GPUType; on != "b" {
			t.Fatalf("picky is on %q, want b, where it is four times as fast", on)
		}
	}
}

// Reasons say when the turn of a job comes.
func TestReasons(t *testing.T) {
	w := policytest.NewToy(t, 1)
	w.Submit("a", 1, 100*time.Hour)
	w.Submit("b", 1, 100*time.Hour)
	w.Submit("too big", 2, time.Hour)
	p := fresh(t, nil)
	first := w.Play(p)
	if got := first.Jobs[1].Why.Kind; got != policy.WaitTurn {
		t.Errorf("before anything is planned: %v, want %v", got, policy.WaitTurn)
	}
	for range 30 {
		s := w.Snapshot()
		plan := w.Play(p)
		if got := plan.Jobs[2].Why.Kind; got != policy.Impossible {
			t.Fatalf("two GPUs of one: %v, want %v", got, policy.Impossible)
		}
		for i := range 2 {
			why := plan.Jobs[i].Why
			if plan.Jobs[i].Allocation.IsZero() && why.Kind == policy.WaitPlanned && (why.Value < 60 || why.Limit < 60) {
				t.Fatalf("round %d: %+v, want a minute at least until then, and of it", s.Round, why)
			}
		}
	}
}
