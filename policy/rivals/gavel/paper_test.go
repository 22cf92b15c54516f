package gavel_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/gavel"
)

// served plays a policy for some rounds, in which nobody ends, and returns the part
// of them in which each job ran on each type.
func (w *testCluster) served(p policy.Policy, rounds int) map[job.ID]map[string]float64 {
	had := map[job.ID]map[string]float64{}
	for range rounds {
		s := w.snapshot()
		plan := w.play(p)
		for i, j := range s.Jobs {
			if had[j.ID] == nil {
				had[j.ID] = map[string]float64{}
			}
			if a := plan.Jobs[i].Allocation; a.GPUs > 0 {
				had[j.ID][string(a.GPUType)] += 1 / float64(rounds)
			}
		}
	}
	return had
}

// endless gives a job more to do than it ever can.
func endless(j *policy.Job) *policy.Job {
	j.Target = 1e12
	return j
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// Gavel §4.1: on GPUs of one type, max-min fairness is an equal share of GPU time,
// which gangs use up faster.
func TestMaxMin_is_equal_GPU_time_on_one_type(t *testing.T) {
	w := newTestCluster(t, 4, 1)
	for i, gpus := range []int{1, 1, 2, 4, 1, 1} {
		endless(w.submit(fmt.Sprint(i), gpus, float64(1+i)))
	}
	had := w.served(fresh(t, nil), 600)
	for i, gpus := range []float64{1, 1, 2, 4, 1, 1} {
		near(t, fmt.Sprintf("GPU time of job %d", i), gpus*had[job.ID(fmt.Sprint(i))]["a"], 4.0/6, 0.02)
	}
}

// Gavel §4.1: with weights, shares are in proportion to them.
func TestMaxMin_counts_weights(t *testing.T) {
	w := newTestCluster(t, 1, 1)
	endless(w.submit("light", 1, 1))
	endless(w.submit("heavy", 1, 1)).Spec.Weight = 3
	had := w.served(fresh(t, nil), 400)
	near(t, "light", had["light"]["a"], 0.25, 0.01)
	near(t, "heavy", had["heavy"]["a"], 0.75, 0.01)
}

// preferences returns a cluster of a GPU of each of two types, and two jobs that are
// faster on different ones.
func preferences(t *testing.T) *testCluster {
	w := newTestCluster(t, 2, 2)
	endless(w.submit("fast on a", 1, 1)).Perf = speed{"a": 5, "b": 1}
	endless(w.submit("fast on b", 1, 1)).Perf = speed{"a": 1, "b": 3}
	return w
}

// Gavel §4.1: jobs have the GPUs that suit them, and all do better than with
// an equal share of each type: 5 to 3 here, and 3 to 2.
func TestMaxMin_gives_jobs_the_GPUs_that_suit_them(t *testing.T) {
	w := preferences(t)
	p := fresh(t, nil)
	plan := w.play(p)
	near(t, "least normalised throughput", plan.Stats.Objective, 3.0/2, 1e-6)
	had := w.served(p, 400)
	near(t, "a", had["fast on a"]["a"], 1, 0.15)
	near(t, "b", had["fast on b"]["b"], 1, 1e-9)
}

// Gavel §4.1: without throughputs ("heterogeneity-agnostic") both have as much of
// each type.
func TestMaxMin_without_throughputs_shares_every_type(t *testing.T) {
	had := preferences(t).served(fresh(t, func(o *gavel.Options) { o.Perf = false }), 400)
	near(t, "fast GPU", had["fast on a"]["a"], 0.5, 0.02)
	near(t, "slow GPU", had["fast on a"]["b"], 0.5, 0.02)
}

// Gavel §4.2: the jobs that do most steps per GPU run.
func TestSum_runs_what_is_fastest(t *testing.T) {
	w := newTestCluster(t, 2, 1)
	for i, rate := range []float64{1, 4, 2, 3} {
		endless(w.submit(fmt.Sprint(i), 1, rate))
	}
	p := fresh(t, func(o *gavel.Options) { o.Objective = gavel.Sum })
	plan := w.play(p)
	for i, runs := range []bool{false, true, false, true} {
		if got := plan.Jobs[i].Allocation.GPUs > 0; got != runs {
			t.Errorf("job %d runs: %v, want %v", i, got, runs)
		}
	}
	near(t, "objective", plan.Stats.Objective, 35, 1e-6) // 4 and 3 samples a second, times 5 on type a
	near(t, "price", plan.Prices[0].Price, 12.5, 2.6)    // between the worst that runs and the best that does not
	if why := plan.Jobs[2].Why; why.Kind != policy.WaitPrice || why.Value != 10 || why.Limit < why.Value {
		t.Errorf("job 2: %+v, want that it offers 10 and the price is more", why)
	}
}

// Gavel §4.2: all end at the earliest time at which they can; long jobs run more.
func TestMakespan_ends_all_jobs_as_early_as_can_be(t *testing.T) {
	w := newTestCluster(t, 2, 1)
	for i, minutes := range []float64{100, 100, 300, 60, 40} {
		w.submit(fmt.Sprint(i), 1, 1).Target = minutes * 60 * 5
	}
	p := fresh(t, func(o *gavel.Options) { o.Objective = gavel.Makespan })
	first := w.play(p)
	near(t, "makespan", first.Stats.Objective, 300*60, 0.1) // both GPUs together have 600 minutes to do
	near(t, "bound", first.Stats.Bound, 300*60, 0.1)
	for len(w.jobs) > 0 {
		w.play(p)
	}
	near(t, "end", w.now.Sub(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).Minutes(), 300, 6)
}

// Gavel §4.2: on GPUs of one type time fractions come up to the bound that holds for every
// schedule, Eq. 10 of Shockwave.
func TestMakespan_is_the_bound_on_one_type(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gpus := rapid.IntRange(1, 8).Draw(rt, "GPUs")
		w := newTestCluster(t, gpus, 1)
		var left []time.Duration
		var size []int
		for i := range rapid.IntRange(1, 8).Draw(rt, "jobs") {
			size = append(size, rapid.IntRange(1, gpus).Draw(rt, "size"))
			left = append(left, time.Duration(rapid.IntRange(60, 1e5).Draw(rt, "seconds"))*time.Second)
			w.submit(fmt.Sprint(i), size[i], 1).Target = 5 * left[i].Seconds() // at rate 5
		}
		plan := w.play(fresh(t, func(o *gavel.Options) { o.Objective = gavel.Makespan }))
		if want := perf.MakespanBound(left, size, gpus).Seconds(); math.Abs(plan.Stats.Objective/want-1) > 1e-4 {
			rt.Errorf("makespan %g s, want %g s", plan.Stats.Objective, want)
		}
	})
}

// Gavel §4.2: with the worst finish-time fairness least, jobs alike that came
// together have the same, and nobody is worse off than alone on its share.
func TestFTF_is_no_worse_than_a_share_of_the_cluster(t *testing.T) {
	w := newTestCluster(t, 4, 1)
	for i, minutes := range []float64{60, 60, 90, 30, 120, 60, 60, 60} {
		w.submit(fmt.Sprint(i), 1+i%2, 1).Target = minutes * 60 * 5
	}
	p := fresh(t, func(o *gavel.Options) { o.Objective = gavel.FTF })
	plan := w.play(p)
	if rho := plan.Stats.Objective; !(rho <= 1+1e-5) {
		t.Errorf("ρ is %g at the start, want at most 1", rho)
	}
	near(t, "gap", plan.Stats.Objective, plan.Stats.Bound, 1e-5)
}

// AlloX: short jobs run first, long ones last, and each on the type that suits.
func TestAlloX_serves_short_jobs_first(t *testing.T) {
	w := newTestCluster(t, 2, 1)
	for i, minutes := range []float64{100, 10, 50, 20} {
		w.submit(fmt.Sprint(i), 1, 1).Target = minutes * 60 * 5
	}
	p := fresh(t, func(o *gavel.Options) { o.Objective, o.Alpha = gavel.AlloX, 1 })
	plan := w.play(p)
	for i, runs := range []bool{false, true, false, true} {
		if got := plan.Jobs[i].Allocation.GPUs > 0; got != runs {
			t.Errorf("job %d runs: %v, want %v", i, got, runs)
		}
	}
	w.submit("later", 1, 1).Target = 300 // it is shorter, but they run until they are done
	if plan = w.play(p); plan.Jobs[4].Allocation.GPUs > 0 || plan.Jobs[1].Allocation.GPUs == 0 {
		t.Error("a job that ran was stopped for a shorter one")
	}
}

// AlloX: with a small part matched, the jobs that came first go first.
func TestAlloX_filters_by_arrival(t *testing.T) {
	w := newTestCluster(t, 1, 1)
	for i, minutes := range []float64{100, 10, 50} {
		w.submit(fmt.Sprint(i), 1, 1).Target = minutes * 60 * 5
	}
	plan := w.play(fresh(t, func(o *gavel.Options) { o.Objective, o.Alpha = gavel.AlloX, 0 }))
	if plan.Jobs[0].Allocation.GPUs == 0 {
		t.Error("with alpha 0 the first job is the only one matched, and it does not run")
	}
	if why := plan.Jobs[1].Why; why.Kind != policy.WaitServed {
		t.Errorf("job 1: %+v, want that one that has GPUs is before it", why)
	}
}

// Shockwave §8.5: under Gandiva-Fair a job has as much time as any other, so that
// large jobs have more GPUs.
func TestStride_is_equal_time_whatever_the_size(t *testing.T) {
	w := newTestCluster(t, 4, 1)
	for i, gpus := range []int{1, 1, 2, 4, 1, 1} {
		endless(w.submit(fmt.Sprint(i), gpus, 1))
	}
	had := w.served(fresh(t, func(o *gavel.Options) { o.Objective = gavel.Stride }), 600)
	for i := range 6 {
		near(t, fmt.Sprintf("time of job %d", i), had[job.ID(fmt.Sprint(i))]["a"], 0.4, 0.02)
	}
}

// Gavel §5: what jobs have is never far from their fractions, whatever those are,
// and whoever else comes. Nobody starves.
func TestRounds_follow_the_fractions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newTestCluster(t, rapid.IntRange(1, 9).Draw(rt, "GPUs"), rapid.IntRange(1, 3).Draw(rt, "types"))
		jobs := rapid.IntRange(1, 20).Draw(rt, "jobs")
		for i := range jobs {
			j := endless(w.submit(fmt.Sprint(i), 1, rapid.SampledFrom([]float64{1, 3, 0.1}).Draw(rt, "rate")))
			j.Spec.Weight = rapid.SampledFrom([]float64{1, 2}).Draw(rt, "weight")
		}
		p := fresh(t, nil)
		const rounds = 200
		had := w.served(p, rounds)
		least := math.Inf(1)
		for _, j := range w.jobs {
			rate, sum := 0.0, 0.0
			for _, kind := range w.cluster.Types() {
				rate += had[j.ID][string(kind.Type)] * j.Perf.(speed)[kind.Type]
				sum += float64(kind.GPUs) / float64(w.cluster.GPUs()) * j.Perf.(speed)[kind.Type]
			}
			least = math.Min(least, rate/sum/j.Weight)
		}
		// the fairness that was planned, less a few rounds of rounding
		plan := w.play(p)
		if planned := plan.Stats.Objective; least < planned*(1-0.05)-4.0/rounds {
			rt.Fatalf("the job worst off has %g of what it should, planned was %g", least, planned)
		}
	})
}
