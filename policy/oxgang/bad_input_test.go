package oxgang

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// assumes reports whether the last plan said so of a job.
func (w *small) assumes(id job.ID, words string) bool {
	x, ok := w.p.Weighed(id)
	return ok && slices.ContainsFunc(x.Assumed, func(s string) bool { return strings.Contains(s, words) })
}

// want fails unless the last plan assumed just this of a job; empty: nothing.
func (w *small) want(id job.ID, words string) {
	w.t.Helper()
	x, ok := w.p.Weighed(id)
	if got := strings.Join(x.Assumed, "; "); !ok || got != words {
		w.t.Errorf("%s: the plan assumed %q, want %q", id, got, words)
	}
}

// Numbers that cannot be, or say nothing, leave a legal plan; what is there is used, and what was assumed is said.
func TestPlan_bad_input(t *testing.T) {
	weights := []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 1e-300}
	rapid.Check(t, func(rt *rapid.T) {
		w := newSmall(t, DefaultOptions(), 2, 4)
		for i := range rapid.IntRange(1, 12).Draw(rt, "jobs") {
			id := job.ID(fmt.Sprintf("job-%d", i))
			w.submit(id, rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(rt, "gpus"), time.Hour, func(s *job.Spec) {
				s.Weight = rapid.SampledFrom(weights).Draw(rt, "weight")
				s.Target = rapid.SampledFrom([]float64{0, 1e-9, 1e3, 1e18}).Draw(rt, "target")
				s.Class = rapid.SampledFrom([]job.Class{"", "a"}).Draw(rt, "class")
				s.RestartOverhead = rapid.SampledFrom([]time.Duration{0, time.Minute, 1e6 * time.Hour}).Draw(rt, "restart")
				s.NoCheckpoint = rapid.Bool().Draw(rt, "unsaved")
			})
			w.s.Jobs[i].Submitted = w.s.Now.Add(-rapid.SampledFrom([]time.Duration{-time.Hour, 0, 1e5 * time.Hour}).Draw(rt, "age"))
			w.s.Jobs[i].Perf = rapid.SampledFrom([]perf.Model{nil, rated(10), rated(1e-300), rated(1e300)}).Draw(rt, "model")
		}
		for range 8 {
			jobs := w.s.Jobs
			has := w.round()
			if len(jobs) > 0 && w.s.Cluster.GPUs() == 8 && len(has) == 0 {
				rt.Fatal("GPUs are free, and nobody has any")
			}
			w.says(rt, jobs)
			switch rapid.IntRange(0, 4).Draw(rt, "change") {
			case 0: // capacity vanishes, and what was on it waits
				w.shrink(clusterOf(t, rapid.SampledFrom([]cluster.GPUType{"a100", "t4"}).Draw(rt, "type"), 1, 4))
			case 1:
				w.shrink(clusterOf(t, "a100", 2, 4))
			case 2: // a class is ten times as fast, or as slow
				w.speed("a", rated(rapid.SampledFrom([]float64{1, 100}).Draw(rt, "speed")))
			case 3: // capacity vanishes below running jobs
				w.s.Cluster = clusterOf(t, rapid.SampledFrom([]cluster.GPUType{"a100", "t4"}).Draw(rt, "type"), 1, 4)
			}
		}
	})
}

// says fails unless the weights of the last plan are numbers, and what was assumed of jobs is said.
func (w *small) says(t *rapid.T, jobs []*policy.Job) {
	for _, j := range jobs {
		x, ok := w.p.Weighed(j.ID)
		if !ok || !(x.Weight > 0) || math.IsInf(x.Weight, 0) || math.IsNaN(x.Mean) {
			t.Fatalf("%s: %+v", j.ID, x)
		}
		if !(j.Weight > 1e-4 && j.Weight < 1e4) && j.Weight != 0 && !w.assumes(j.ID, fmt.Sprintf("its weight %g ", j.Weight)) {
			t.Fatalf("%s: weight %g, and the plan assumed %v", j.ID, j.Weight, x.Assumed)
		}
		if j.Target == 0 && !w.assumes(j.ID, "does not state its work") && !w.assumes(j.ID, "its remaining work is not known") {
			t.Fatalf("%s: no target, and the plan assumed %v", j.ID, x.Assumed)
		}
		if j.Perf == nil && !w.assumes(j.ID, "its speed is not known yet") {
			t.Fatalf("%s: no model, and the plan assumed %v", j.ID, x.Assumed)
		}
	}
}

// speed gives all jobs of a class that have a model another.
func (w *small) speed(c job.Class, m perf.Model) {
	for i, j := range w.s.Jobs {
		if j.Class == c && j.Perf != nil {
			row := *j
			row.Perf = m
			w.s.Jobs[i] = &row
		}
	}
}

func (w *small) shrink(c *cluster.Cluster) {
	w.s.Cluster = c
	for i, j := range w.s.Jobs {
		row := *j
		row.Allocation, row.Phase = cluster.Allocation{}, job.Waiting
		w.s.Jobs[i] = &row
	}
}

func TestPlan_says_what_it_made_of_a_weight(t *testing.T) {
	for weight, want := range map[float64]string{
		0: "its weight 0 is not above 0: 1 is used", -1: "its weight -1 is not above 0: 1 is used", 2: "",
		math.NaN(): "its weight NaN is not a number: 1 is used", math.Inf(1): "its weight +Inf is out of bounds: 1000 is used",
		math.Inf(-1): "its weight -Inf is not above 0: 1 is used", 1e-300: "its weight 1e-300 is out of bounds: 0.001 is used",
	} {
		w := newSmall(t, DefaultOptions(), 1, 1)
		w.submit("a", 1, time.Hour, func(s *job.Spec) { s.Weight = weight })
		w.submit("b", 1, time.Hour, func(s *job.Spec) { s.Weight = 3 })
		w.round()
		w.want("a", want)
		w.want("b", "")
	}
	w := newSmall(t, DefaultOptions(), 1, 1)
	w.submit("a", 1, time.Hour)
	w.round()
	w.want("a", "") // where nobody has one, none is missing
}

func TestPlan_says_what_a_length_rests_on(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	class := func(s *job.Spec) { s.Class = "a" }
	silent := func(s *job.Spec) { s.Target = 0 }
	w.submit("first", 1, 3*time.Hour, class)
	for len(w.s.Jobs) > 0 {
		w.round()
	}
	w.submit("alike", 1, 0, class, silent)
	w.submit("unknown", 1, 0, silent)
	w.submit("stated", 1, time.Hour)
	w.round()
	w.want("alike", "it does not state its work: the mean of its class is assumed, 2.98 h left on its slowest GPU") // seen last a minute before it ended
	w.want("unknown", "its remaining work is not known: its work so far is assumed again, 10 min on its slowest GPU")
	w.want("stated", "")
}

// A job that outlives what it stated is believed to go on.
func TestPlan_says_that_a_statement_was_wrong(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	w.submit("a", 1, time.Hour)
	w.round()
	row := *w.s.Jobs[0]
	row.Progress = 2 * row.Target
	w.s.Jobs[0] = &row
	w.round()
	if x, _ := w.p.Weighed("a"); len(x.Assumed) != 1 || !strings.HasPrefix(x.Assumed[0], "statements of this job or of similar jobs were wrong: 0 s left on its slowest GPU are counted as ") {
		t.Errorf("the plan assumed %q, want that the statement was wrong", x.Assumed)
	}
}

// A class that is ten times as slow has ten times as far to go, in words too, and who is shorter now passes it.
func TestPlan_class_becomes_slower(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	class := func(s *job.Spec) { s.Class = "a" }
	w.submit("first", 1, 3*time.Hour, class)
	for len(w.s.Jobs) > 0 {
		w.round()
	}
	w.submit("alike", 1, 0, class, func(s *job.Spec) { s.Target = 0 })
	for i := range 4 {
		w.submit(job.ID(fmt.Sprint("other-", i)), 1, 6*time.Hour)
	}
	if has := w.round(); has["alike"] != 1 {
		t.Fatalf("%v have the GPU, want the shorter job", has)
	}
	w.speed("a", rated(1))
	has := w.round()
	if !w.assumes("alike", "29.7 h left") || has["alike"] != 0 {
		x, _ := w.p.Weighed("alike")
		t.Errorf("the plan assumed %q, and %v have the GPU; want ten times as long as before, and another job", x.Assumed, has)
	}
}

// Without a model a job runs, and the plan says that its speed is not known.
func TestPlan_no_model(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 2)
	w.submit("a", 1, time.Hour)
	w.submit("b", 1, time.Hour)
	w.s.Jobs[0].Perf = nil
	if has := w.round(); len(has) != 2 {
		t.Errorf("%v have a GPU, want both", has)
	}
	w.want("a", "its speed is not known yet: equal speed on all GPU types is assumed")
	w.want("b", "")
}

// Jobs that run where nodes are gone are decided about as if they waited: none is granted GPUs that are not there, none is
// thought to be safe from a move, and nobody hears of an owner.
func TestPlan_capacity_vanishes_below_running_jobs(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 2, 1)
	w.submit("a", 1, 2*time.Hour)
	w.submit("b", 1, time.Hour)
	w.round()
	w.runs(0, "a100", "a100-0")
	w.runs(1, "a100", "a100-1")
	w.want("a", "")
	w.s.Cluster = clusterOf(t, "a100", 1, 1)
	plan := w.plan()
	w.want("b", "nodes of the 1 a100 that it was on are gone: it counts as waiting")
	w.want("a", "")
	if x, _ := w.p.Weighed("b"); x.Restart != 0 || plan.Jobs[1].Why.Kind == policy.Reclaimed || plan.Jobs[0].Allocation.IsZero() == plan.Jobs[1].Allocation.IsZero() {
		t.Errorf("%+v, %+v: want one of them to have the GPU, and b to have nothing to lose", x, plan.Jobs)
	}
	w.s.Cluster = clusterOf(t, "t4", 1, 1)
	w.plan()
	w.want("a", "nodes of the 1 a100 that it was on are gone: it counts as waiting")
}

// Where GPUs have no price, what a job would do twice costs others nothing; that is said.
func TestPlan_price_of_0(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 2)
	w.submit("a", 1, 3*time.Hour, func(s *job.Spec) { s.NoCheckpoint = true })
	for range 11 {
		w.round()
	}
	w.want("a", "GPUs of its type had no price: repeating 10 min of its work is assumed to cost other jobs nothing")
	for i := range 4 {
		w.submit(job.ID(fmt.Sprint("b", i)), 1, time.Hour)
	}
	w.round()
	w.round()
	if p := w.p.prices["a100"]; !(p > 0) {
		t.Fatalf("price %v, want more than 0", p)
	}
	w.want("a", "")
}

// Rented nodes whose price is not known are taken to cost 1 for each GPU-hour, within a budget and without.
func TestPlan_rent_of_0(t *testing.T) {
	for _, budget := range []float64{0, 3} {
		w := rentable(t, budget, 2)
		w.p.o.Rent.Money = true
		p, err := New(w.p.o)
		if err != nil {
			t.Fatal(err)
		}
		w.p = p
		w.submit("a", 1, time.Hour)
		if plan := w.plan(); budget == 0 && plan.Jobs[0].Allocation.IsZero() {
			t.Errorf("%+v: want the job to run", plan)
		}
		if budget == 0 { // within one, jobs are not weighed
			w.want("a", "the price of the a100 is not known: 1 per GPU-hour is assumed")
		}
	}
}
