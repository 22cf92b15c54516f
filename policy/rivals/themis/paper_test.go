package themis_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/rivals/themis"
)

// fewer makes a job run with fewer GPUs than it asks for too, in proportion slower: "we
// assume a linear slowdown when the number of allocated GPUs is less than requested".
func fewer(j *policy.Job) {
	j.Adaptivity, j.MinGPUs, j.Spec.MaxGPUs = job.StrongScaling, 1, j.GPUs
}

// isolated are the rounds that A, B and C of Shockwave's Fig. 1 take alone. They follow
// from the text: ρ = JCT / (3 x alone) is 0.78, 0.83 and 1.1 in the schedule of f = 2/3,
// where JCTs of whole rounds up to the makespan of 7 add up to 3 x 5.7 = 17. The only
// ones are 7/9, 5/6 and 5/4.5.
var isolated = map[job.ID]float64{"A": 3, "B": 2, "C": 1.5}

// A row is one of Table 1: worst ρ, mean JCT and makespan, in rounds.
type row [3]string

// schedule plays the three jobs to their end and returns the row and all ρ.
func schedule(t *testing.T, p policy.Policy) (row, map[job.ID]string) {
	w := policytest.NewToy(t, 5)
	for _, j := range []struct {
		id   job.ID
		gpus int
	}{{"C", 4}, {"A", 5}, {"B", 5}} {
		fewer(w.Submit(j.id, j.gpus, time.Duration(isolated[j.id]*float64(w.Length))))
	}
	for len(w.Jobs) > 0 {
		w.Play(p)
	}
	worst, sum, last := 0.0, 0.0, 0.0
	rho := map[job.ID]string{}
	for id, end := range w.Ends {
		jct := end.Minutes()
		worst, sum, last = math.Max(worst, jct/isolated[id]/3), sum+jct, math.Max(last, jct)
		rho[id] = fmt.Sprintf("%.2f", jct/isolated[id]/3)
	}
	return row{fmt.Sprintf("%.1f", worst), fmt.Sprintf("%.1f", sum/3), fmt.Sprint(last)}, rho
}

// Shockwave §2.1, Table 1: "fixed filter values f=1 and f=2/3 violate finish time fairness (ρ>1) while f=1/3 leads
// to worse JCT"; the adaptive filter is best at both.
//
// The text does not state the number of GPUs and requests. The setting above (5 GPUs; requests of 4, 5 and 5, in
// this order) is the only one of up to 8 GPUs in which this policy meets the nine figures of the fixed filters and
// the three ρ of the caption. The adaptive row is 0.83, 5 and 7 in the table, and 0.9, 5.3 and 7 here: also fair
// to all, and sooner than any fixed filter.
func TestTable1(t *testing.T) {
	for filter, want := range map[float64]row{
		0:       {"0.9", "5.3", "7"}, // adaptive; not the table's
		1.0 / 3: {"1.0", "5.7", "7"},
		2.0 / 3: {"1.1", "5.7", "7"},
		1:       {"1.1", "6.0", "7"},
	} {
		got, rho := schedule(t, fresh(t, func(o *themis.Options) {
			o.Payments = false // the example has none
			if o.Adaptive = filter == 0; !o.Adaptive {
				o.Filter = filter
			}
		}))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("filter %.2f -want +got\n%s", filter, d)
		}
		if d := cmp.Diff(map[job.ID]string{"A": "0.78", "B": "0.83", "C": "1.11"}, rho); filter == 2.0/3 && d != "" {
			t.Errorf("ρ of Fig. 1 -want +got\n%s", d)
		}
	}
}

// Themis §3.3.1: the allocation is that of the greatest product of valuations: two jobs alike
// have as much, and one that scales to two GPUs only has no more.
func TestAuction_maximises_the_product(t *testing.T) {
	for most, want := range map[int]string{8: "a4 b4", 2: "a6 b2"} {
		w := policytest.NewToy(t, 8)
		w.Elastic("a", 8, time.Hour)
		w.Elastic("b", most, time.Hour)
		w.Play(fresh(t, func(o *themis.Options) { o.Filter, o.Payments = 1, false }))
		if got := w.GPUs(); got != want {
			t.Errorf("b scales to %d GPUs: %s, want %s", most, got, want)
		}
	}
}

// Themis §3.3.1: a winner keeps the fraction of its GPUs to which it reduced the product of the others'
// valuations. Each of two equal jobs would have twice as much without the other, so each keeps a half. The rest
// goes to jobs outside the auction, the worst treated first.
func TestAuction_takes_hidden_payments(t *testing.T) {
	for _, payments := range []bool{true, false} {
		w := policytest.NewToy(t, 8)
		w.Elastic("a", 8, 2*time.Hour).Submitted = w.Now.Add(-time.Minute)
		w.Elastic("b", 8, 2*time.Hour).Submitted = w.Now.Add(-time.Minute)
		w.Submit("c", 3, 10*time.Hour)
		w.Play(fresh(t, func(o *themis.Options) { o.Filter, o.Payments = 0.6, payments }))
		want := map[bool]string{true: "a3 b2 c3", false: "a4 b4 c-"}[payments]
		if got := w.GPUs(); got != want {
			t.Errorf("payments %v: %s, want %s", payments, got, want)
		}
	}
}

// A fraction that is a whole number of GPUs but for rounding is that number.
func TestAuction_payments_are_whole(t *testing.T) {
	for gpus := 4; gpus <= 200; gpus += 4 {
		w := policytest.NewToy(t, gpus)
		w.Elastic("a", gpus, time.Hour)
		w.Elastic("b", gpus, time.Hour)
		w.Submit("c", gpus/2, time.Hour)
		w.Play(fresh(t, func(o *themis.Options) { o.Filter = 0.6 }))
		if want := fmt.Sprintf("a%d b%d c%d", gpus/4, gpus/4, gpus/2); w.GPUs() != want {
			t.Errorf("%d GPUs: %s, want %s", gpus, w.GPUs(), want)
		}
	}
}

// Themis §3.3.2: a job that waits is let through sooner or later: with a filter of any width
// and any gangs nobody starves.
func TestFilter_lets_the_worst_treated_through(t *testing.T) {
	w := policytest.NewToy(t, 8)
	for i, gpus := range []int{1, 8, 4, 1, 2, 8, 1, 3} {
		w.Submit(job.ID(fmt.Sprint(i)), gpus, 10*time.Hour)
	}
	served := map[job.ID]int{}
	p := fresh(t, nil)
	for range 400 {
		w.Play(p)
		for _, j := range w.Jobs {
			if j.Holding() {
				served[j.ID]++
			}
		}
	}
	for _, j := range w.Jobs { // 28 GPUs are asked for, so a fair share is 8/28 of the time
		if n := served[j.ID]; n < 400*8/28*8/10 {
			t.Errorf("job %s of %d GPUs ran in %d rounds of 400, want nearly %d", j.ID, j.GPUs, n, 400*8/28)
		}
	}
}

// No GPUs are idle that a waiting job could use, whatever was auctioned and paid.
func TestRounds_are_work_conserving(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := policytest.NewToy(t, 8, 3)
		for i := range rapid.IntRange(0, 9).Draw(rt, "jobs") {
			id, gpus := job.ID(fmt.Sprint(i)), rapid.IntRange(1, 8).Draw(rt, "GPUs")
			if j := w.Submit(id, gpus, time.Hour); rapid.Bool().Draw(rt, "elastic") {
				fewer(j)
			}
		}
		s := w.Snapshot()
		plan, err := fresh(t, func(o *themis.Options) { o.Filter = rapid.Float64Range(0.1, 1).Draw(rt, "filter") }).Plan(t.Context(), s)
		if err != nil {
			rt.Fatal(err)
		}
		free := map[cluster.GPUType]int{"a": 8, "b": 3}
		for i := range plan.Jobs {
			free[plan.Jobs[i].Allocation.GPUType] -= plan.Jobs[i].Allocation.GPUs
		}
		for i, j := range s.Jobs {
			least := j.GPUs
			if j.Adaptivity.Has(job.GPUCount) {
				least = 1
			}
			if plan.Jobs[i].Allocation.GPUs == 0 && least <= max(free["a"], free["b"]) {
				rt.Fatalf("job %s needs %d GPUs and waits, with %v free", j.ID, least, free)
			}
		}
	})
}

func TestReasons(t *testing.T) {
	w := policytest.NewToy(t, 4)
	w.Submit("runs", 4, time.Hour).Submitted = w.Now.Add(-2 * time.Hour)
	w.Submit("bids", 2, time.Hour).Submitted = w.Now.Add(-time.Hour)
	w.Submit("waits", 3, time.Hour)
	w.Submit("too large", 5, time.Hour)
	p := fresh(t, func(o *themis.Options) { o.Filter = 0.5 })
	plan := w.Play(p)
	gpus := func(n int) cluster.Configuration { return cluster.Configuration{Nodes: 1, GPUs: n, GPUType: "a"} }
	want := []policy.Reason{
		{Kind: policy.Started, Config: gpus(4), Value: 1},
		{Kind: policy.WaitNoCapacity, Config: gpus(2), Limit: 2},
		{Kind: policy.WaitOrder, Value: 1, Limit: 3},
		{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 5}},
	}
	for i := range want {
		if d := cmp.Diff(want[i], plan.Jobs[i].Why); d != "" {
			t.Errorf("job %s -want +got\n%s", w.Jobs[i].ID, d)
		}
	}
}

func TestOptions_Validate(t *testing.T) {
	for _, filter := range []float64{0, -1, 1.1, math.NaN()} {
		if _, err := themis.New(themis.Options{Filter: filter}); err == nil {
			t.Errorf("filter %v is accepted", filter)
		}
	}
}
