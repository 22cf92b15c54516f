package sia

import (
	"math"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
	"github.com/oxgang/oxgang/policy/policytest"
)

// running is the cluster of Sia §3.3.4's running example: "(a) one node with 2
// GPUs of type A and (b) one node with 4 GPUs of type B".
func running(t testing.TB) *cluster.Cluster { return clusterOf(t, shape{"A", 1, 2}, shape{"B", 1, 4}) }

var close1e9 = cmpopts.EquateApprox(1e-9, 1e-9)

// Sia §3.3.4: "C = {(1, 1, A), (1, 2, A), (1, 1, B), (1, 2, B), (1, 4, B)}".
func TestConfigurations_of_the_running_example(t *testing.T) {
	want := []cluster.Configuration{on(1, 1, "A"), on(1, 2, "A"), on(1, 1, "B"), on(1, 2, "B"), on(1, 4, "B")}
	if diff := cmp.Diff(want, running(t).Configurations()); diff != "" {
		t.Error(diff)
	}
}

// Sia §3.3.4: "optimizing Equation (3.2) gives us the allocations: J1 gets
// configuration (1,4,B) and J2 gets (1,2,A)". The entries of Table 3.1 are not
// in the text; these have that optimum. Both jobs hold enough to grow so far.
func TestPlan_of_the_running_example(t *testing.T) {
	one := table{on(1, 1, "A"): 1, on(1, 2, "A"): 1.8, on(1, 1, "B"): 2, on(1, 2, "B"): 3.6, on(1, 4, "B"): 6}
	two := table{on(1, 1, "A"): 1, on(1, 2, "A"): 1.9, on(1, 1, "B"): 1.2, on(1, 2, "B"): 2, on(1, 4, "B"): 2.5}
	for _, p := range []float64{1, 0.5, -0.5, -1} {
		o := DefaultOptions()
		o.P = p
		s := snapshot(running(t), holding(waiting("J1", one), on(1, 2, "B")), holding(waiting("J2", two), on(1, 2, "A")))
		want := []cluster.Configuration{on(1, 4, "B"), on(1, 2, "A")}
		if diff := cmp.Diff(want, grants(t, newPolicy(t, o), s)); diff != "" {
			t.Errorf("p = %g: %s", p, diff)
		}
	}
}

// Sia §3.3.3: "Sia restricts the configuration set to a size of (N + log2 R)
// for a cluster with N nodes and R GPUs each".
func TestConfigurations_number_N_plus_log_R(t *testing.T) {
	for _, n := range []int{1, 2, 16, 100} {
		for _, r := range []int{1, 2, 4, 8, 16} {
			all := clusterOf(t, shape{"X", n, r}).Configurations()
			if want := n + bits.Len(uint(r)) - 1; len(all) != want {
				t.Errorf("%d nodes of %d GPUs: %d configurations, want %d: %v", n, r, len(all), want, all)
			}
		}
	}
}

// Sia §3.3.3: "If R is not a power of 2, one can decompose R as a sum of powers
// of 2, and model each physical node with R GPUs as multiple virtual nodes".
// Multi-node allocations "use all available GPUs in a node".
func TestConfigurations_of_virtual_nodes(t *testing.T) {
	for _, c := range []struct {
		shape shape
		want  []cluster.Configuration
	}{
		{shape{"X", 3, 6}, []cluster.Configuration{on(1, 1, "X"), on(1, 2, "X"), on(1, 4, "X"), on(1, 6, "X"), on(2, 12, "X"), on(3, 18, "X")}},
		{shape{"X", 2, 12}, []cluster.Configuration{on(1, 1, "X"), on(1, 2, "X"), on(1, 4, "X"), on(1, 8, "X"), on(1, 12, "X"), on(2, 24, "X")}},
	} {
		if diff := cmp.Diff(c.want, clusterOf(t, c.shape).Configurations()); diff != "" {
			t.Errorf("%+v: %s", c.shape, diff)
		}
	}
}

// Sia §3.3.4, "Normalized goodput matrix": Gij is Ni^min Gij / min_j Gij, over
// "all configurations in C", also those a job may not have yet.
func TestRows_are_normalised(t *testing.T) {
	known := table{on(1, 2, "A"): 30, on(1, 2, "B"): 60, on(1, 4, "B"): 24}
	pair := waiting("J", known, func(s *job.Spec) { s.MinGPUs = 2 })
	for _, c := range []struct {
		rules goodput.Rules
		want  map[cluster.Configuration]float64 // at p = 1, λ = 1
	}{
		{goodput.Rules{}, map[cluster.Configuration]float64{on(1, 2, "A"): 1 + 2*30./24, on(1, 2, "B"): 1 + 2*60./24}},
		{goodput.Rules{ValidMinimum: true}, map[cluster.Configuration]float64{on(1, 2, "A"): 1 + 2, on(1, 2, "B"): 1 + 2*60./30}},
	} {
		p := newPolicy(t, Options{Options: goodput.Options{P: 1, Growth: 2, Solver: Price, Rules: c.rules}, Lambda: 1})
		if diff := cmp.Diff(c.want, values(t, p, snapshot(running(t), pair), 0), close1e9); diff != "" {
			t.Errorf("%+v: %s", c.rules, diff)
		}
	}
}

// Sia §3.3.4, Eq. 3.3: r = (T − N·S) / (T + S).
func TestRestartFactor_equation_3_3(t *testing.T) {
	for _, c := range []struct {
		age      time.Duration
		restarts int
		overhead time.Duration
		want     float64
	}{
		{time.Hour, 0, 30 * time.Second, 3600. / 3630},
		{time.Hour, 4, 250 * time.Second, 2600. / 3850},
		{time.Hour, 0, 0, 1},
		{time.Minute, 3, 30 * time.Second, 0},  // T < N·S: clamped
		{time.Minute, 2, 30 * time.Second, 0},  // T = N·S
		{0, 0, 30 * time.Second, 0},            // just submitted
		{-time.Second, 0, 30 * time.Second, 0}, // clocks differ
	} {
		if got := restartFactor(c.age, c.restarts, c.overhead); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("age %v, %d restarts of %v: %g, want %g", c.age, c.restarts, c.overhead, got, c.want)
		}
	}
}

// Sia §3.3.4, "Restart Factor": "we discount goodput values for all other
// configurations cj ≠ ck". A job that holds nothing has nothing to lose.
func TestProgram_discounts_configurations_that_differ(t *testing.T) {
	known := table{on(1, 1, "A"): 1, on(1, 2, "A"): 2, on(1, 1, "B"): 4}
	j := waiting("J", known, func(s *job.Spec) { s.RestartOverhead = 20 * time.Minute })
	j.Restarts = 1
	const r = (60. - 20) / (60 + 20)
	o := DefaultOptions()
	want := map[cluster.Configuration]float64{on(1, 1, "A"): 1.1 - 1, on(1, 2, "A"): 1.1 - math.Pow(2*r, -0.5), on(1, 1, "B"): 1.1 - math.Pow(4*r, -0.5)}
	if diff := cmp.Diff(want, values(t, newPolicy(t, o), snapshot(running(t), holding(j, on(1, 1, "A"))), 0), close1e9); diff != "" {
		t.Error(diff)
	}
	want = map[cluster.Configuration]float64{on(1, 1, "A"): 1.1 - 1, on(1, 1, "B"): 1.1 - math.Pow(4, -0.5)}
	if diff := cmp.Diff(want, values(t, newPolicy(t, o), snapshot(running(t), j), 0), close1e9); diff != "" {
		t.Error(diff)
	}
}

// objective is Eq. 3.4 as printed: for p < 0 the cost Σ G^p + λ (1 − |A|),
// negated; for p > 0 Σ G^p − λ (1 − |A|), with "a constant penalty −λ".
func objective(o *Options, goodput []table, picks []cluster.Configuration) float64 {
	sum := 0.0
	for i, c := range picks {
		cost := o.Lambda
		if !c.IsZero() {
			least := math.Inf(1)
			for _, g := range goodput[i] {
				least = min(least, g)
			}
			cost = -math.Pow(goodput[i][c]/least, o.P)
			if o.P < 0 {
				cost = -cost
			}
		}
		sum -= cost
	}
	return sum
}

// best is the largest objective of all plans that fit the running example.
func best(o *Options, goodput []table, all []cluster.Configuration) float64 {
	picks, most := make([]cluster.Configuration, len(goodput)), math.Inf(-1)
	var try func(i, a, b int)
	try = func(i, a, b int) {
		if i == len(picks) {
			most = max(most, objective(o, goodput, picks))
			return
		}
		picks[i] = cluster.Configuration{}
		try(i+1, a, b)
		for _, c := range all {
			restA, restB := a, b
			if c.GPUType == "A" {
				restA -= c.GPUs
			} else {
				restB -= c.GPUs
			}
			if restA >= 0 && restB >= 0 {
				picks[i] = c
				try(i+1, restA, restB)
			}
		}
	}
	try(0, 2, 4)
	return most
}

// Sia §3.3.4: "If p < 0, we flip the sign of the objective (i.e., minimize the
// original objective instead of maximizing) to preserve its semantics".
func TestPlan_is_optimal(t *testing.T) {
	solvers := []string{Price}
	if exact.Available {
		solvers = append(solvers, Exact)
	}
	c := running(t)
	all := c.Configurations()
	rapid.Check(t, func(rt *rapid.T) {
		o := DefaultOptions()
		o.P = rapid.SampledFrom([]float64{-1, -0.5, 0.5, 1}).Draw(rt, "p")
		o.Lambda = rapid.SampledFrom([]float64{0.3, 1.1, 10}).Draw(rt, "λ")
		o.Growth = 4
		var goodput []table
		var jobs []*policy.Job
		for i := range rapid.IntRange(1, 4).Draw(rt, "jobs") {
			g := make(table)
			for _, c := range all {
				g[c] = rapid.Float64Range(1, 20).Draw(rt, "goodput")
			}
			goodput = append(goodput, g)
			jobs = append(jobs, holding(waiting(job.ID('a'+rune(i)), g), on(1, 1, "A")))
		}
		for _, solver := range solvers {
			o.Solver = solver
			got, want := objective(&o, goodput, grants(t, newPolicy(t, o), snapshot(c, jobs...))), best(&o, goodput, all)
			if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
				rt.Errorf("%s: objective %g, want %g", solver, got, want)
			}
		}
	})
}

// Sia §3.3.4: "if λ is large, then Sia will allocate at-least one GPU to each
// job in the cluster, if available".
func TestPlan_runs_as_many_jobs_as_possible_for_large_lambda(t *testing.T) {
	for _, p := range []float64{1, -0.5} {
		for n := 1; n <= 8; n++ {
			o := DefaultOptions()
			o.P, o.Lambda = p, 1000
			var jobs []*policy.Job
			for i := range n {
				jobs = append(jobs, holding(waiting(job.ID('a'+rune(i)), linear{}), on(1, 2, "B")))
			}
			run := len(slices.DeleteFunc(grants(t, newPolicy(t, o), snapshot(running(t), jobs...)), cluster.Configuration.IsZero))
			if want := min(n, 6); run != want {
				t.Errorf("p = %g: %d of %d jobs run, want %d", p, run, n, want)
			}
		}
	}
}

// Sia §3.3.1, "Job Scaling policy": "start each job with exactly 1 GPU, and
// scale the job up by a maximum of 2× in each scheduling round".
func TestPlan_doubles_at_most(t *testing.T) {
	c, p, j := clusterOf(t, shape{"X", 3, 8}), newPolicy(t, DefaultOptions()), waiting("J", linear{})
	for _, want := range []cluster.Configuration{on(1, 1, "X"), on(1, 2, "X"), on(1, 4, "X"), on(1, 8, "X"), on(2, 16, "X"), on(3, 24, "X")} {
		got := grants(t, p, snapshot(c, j))[0]
		if got != want {
			t.Fatalf("after %v: %v, want %v", j.Allocation.Configuration, got, want)
		}
		j = holding(j, got)
	}
	j = holding(j, on(1, 1, "X")) // scaled down
	if got := grants(t, p, snapshot(c, j))[0]; got != on(1, 2, "X") {
		t.Errorf("back from 1 GPU: %v, want 2 GPUs", got)
	}
	o := DefaultOptions()
	o.Rules.HistoricGrowth = true
	if got := grants(t, newPolicy(t, o), snapshot(c, j))[0]; got != on(3, 24, "X") {
		t.Errorf("back from 1 GPU by the public code's rule: %v, want 24 GPUs", got)
	}
}

// Sia §3.3.1: "If a job requires a minimum of min_ngpus to start execution, Sia
// will respect this minimum and ignores all allocations smaller". A minimum of
// 3 is no configuration; the next larger one is 4. Nothing known, it is so too.
func TestPlan_respects_the_minimum(t *testing.T) {
	c := clusterOf(t, shape{"X", 1, 8})
	for _, test := range []struct{ least, want int }{{1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {9, 0}} {
		atLeast := func(s *job.Spec) { s.MinGPUs = test.least }
		unknown := waiting("J", nil, atLeast)
		unknown.Perf = nil
		for name, j := range map[string]*policy.Job{"known": waiting("J", linear{}, atLeast), "unknown": unknown} {
			if got := grants(t, newPolicy(t, DefaultOptions()), snapshot(c, j))[0]; got.GPUs != test.want {
				t.Errorf("%s, at least %d GPUs: got %v, want %d GPUs", name, test.least, got, test.want)
			}
		}
	}
	held := holding(waiting("K", linear{}, func(s *job.Spec) { s.NonPreemptive = true }), on(1, 4, "X"))
	if got := grants(t, newPolicy(t, DefaultOptions()), snapshot(c, held, waiting("J", linear{}, func(s *job.Spec) { s.MinGPUs = 5 }))); !got[1].IsZero() {
		t.Errorf("got %v where 4 GPUs are free, want nothing", got[1])
	}
}

// steady panics if it is asked for statistical efficiency.
type steady struct{ *policytest.Model }

func (steady) Efficiency(float64) float64 { panic("efficiency of a job whose batch size is fixed") }

// measured is a model of compute and gradient exchange.
func measured() *policytest.Model {
	within := perf.Params{AlphaC: 0.05, BetaC: 0.002, AlphaN: 0.1, BetaN: 0.002, AlphaR: 0.02, BetaR: 0.001, Gamma: 1.5}
	slower := within
	slower.AlphaC, slower.BetaC = 2*slower.AlphaC, 2*slower.BetaC
	return &policytest.Model{Params: map[cluster.GPUType]perf.Params{"A": slower, "B": within}, Phi: 500, Init: 64}
}

// Sia §3.3.4, "limited adaptivity": "for strong-scaling jobs, Sia directly uses
// throughput in place of goodput".
func TestGoodput_of_strong_scaling_is_throughput(t *testing.T) {
	m := measured()
	j := waiting("J", steady{m}, func(s *job.Spec) { s.Adaptivity, s.BatchSize = job.StrongScaling, 240 })
	for _, c := range running(t).Configurations() {
		a := cluster.Allocation{Configuration: c}
		if got, want := goodputOf(j, c), m.Throughput(a, job.BatchSize{Local: 240 / c.GPUs}); got != want {
			t.Errorf("%v: %g, want %g", c, got, want)
		}
	}
}

// Sia §3.3.4: "rigid jobs run with a fixed batch size and GPU count, only
// leaving GPU type to be optimized", Eq. 3.5.
func TestProgram_of_rigid_jobs_equation_3_5(t *testing.T) {
	m := measured()
	j := waiting("J", steady{m}, func(s *job.Spec) {
		s.Adaptivity, s.GPUs, s.BatchSize, s.RestartOverhead = job.Rigid, 2, 64, 20*time.Minute
	})
	speed := func(t cluster.GPUType) float64 {
		return m.Throughput(cluster.Allocation{Configuration: on(1, 2, t)}, job.BatchSize{Local: 32})
	}
	const r = 60. / 80
	want := map[cluster.Configuration]float64{
		on(1, 2, "A"): 1.1 - math.Pow(2, -0.5), // N_min: two GPUs of the slower type
		on(1, 2, "B"): 1.1 - math.Pow(r*2*speed("B")/speed("A"), -0.5),
	}
	s := snapshot(running(t), holding(j, on(1, 2, "A")))
	if diff := cmp.Diff(want, values(t, newPolicy(t, DefaultOptions()), s, 0), close1e9); diff != "" {
		t.Error(diff)
	}
	if got := grants(t, newPolicy(t, DefaultOptions()), s)[0]; got != on(1, 2, "B") {
		t.Errorf("got %v, want 2 GPUs of the faster type", got)
	}
}

// A rigid job runs with the batch size it was submitted with, however small.
func TestPlan_of_a_rigid_job_with_a_small_batch(t *testing.T) {
	j := waiting("J", measured(), func(s *job.Spec) {
		s.Adaptivity, s.GPUs, s.BatchSize, s.Batch.LocalMin = job.Rigid, 4, 4, 2
	})
	if got := grants(t, newPolicy(t, DefaultOptions()), snapshot(running(t), j))[0]; got != on(1, 4, "B") {
		t.Errorf("got %v, want 4 GPUs", got)
	}
}

// Sia §3.3.4, "Preemption and reservation": "we add a constraint to force the
// requested resources to be allocated. Reservations are implemented in a
// similar manner".
func TestPlan_keeps_and_reserves_whatever_it_is_worth(t *testing.T) {
	slow := table{on(1, 2, "B"): 1, on(1, 4, "B"): 1.01, on(1, 1, "A"): 1}
	kept := holding(waiting("kept", slow, func(s *job.Spec) { s.NonPreemptive = true }), on(1, 2, "B"))
	reserved := waiting("reserved", slow, func(s *job.Spec) { s.Reservation = on(1, 2, "A") })
	rich := holding(waiting("rich", linear{}), on(1, 2, "B"))
	s := snapshot(running(t), rich, kept, reserved)
	want := []cluster.Configuration{on(1, 2, "B"), on(1, 2, "B"), on(1, 2, "A")}
	if diff := cmp.Diff(want, grants(t, newPolicy(t, DefaultOptions()), s)); diff != "" {
		t.Error(diff)
	}
}

// Sia §3.3.4, "Scheduling other workload types": "throughput can be used as a
// proxy for goodput"; "goodput=1 if a configuration can support inference
// within the promised latency constraints and 0 otherwise".
func TestGoodput_of_inference(t *testing.T) {
	m := measured()
	bulk := waiting("J", steady{m}, func(s *job.Spec) { s.Goal, s.BatchSize = job.BatchInference, 240 })
	// A pass over 64 samples takes 0.178 s on one B and 0.356 s on one A.
	quick := waiting("J", steady{m}, func(s *job.Spec) {
		s.Goal, s.BatchSize, s.Latency = job.LatencyBound, 64, 200*time.Millisecond
	})
	for _, c := range running(t).Configurations() {
		a := cluster.Allocation{Configuration: c}
		if got, want := goodputOf(bulk, c), m.Throughput(a, job.BatchSize{Local: 240 / c.GPUs}); got != want {
			t.Errorf("batch inference on %v: %g, want the throughput %g", c, got, want)
		}
		want := 0.0
		if 64/m.Throughput(a, job.BatchSize{Local: 64 / c.GPUs}) <= 0.2 {
			want = 1
		}
		if got := goodputOf(quick, c); got != want {
			t.Errorf("latency-bound inference on %v: %g, want %g", c, got, want)
		}
	}
	got := []float64{goodputOf(quick, on(1, 1, "A")), goodputOf(quick, on(1, 1, "B")), goodputOf(quick, on(1, 4, "B"))}
	if diff := cmp.Diff([]float64{0, 1, 1}, got); diff != "" {
		t.Error(diff)
	}
	if got := grants(t, newPolicy(t, DefaultOptions()), snapshot(running(t), quick))[0]; got != on(1, 1, "B") {
		t.Errorf("got %v, want the one GPU that meets the bound", got)
	}
}
