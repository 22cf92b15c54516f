package oxgang

import (
	"cmp"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// rated makes so many samples a second on each GPU.
type rated float64

func (r rated) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	return float64(r) * float64(a.GPUs)
}
func (rated) Efficiency(float64) float64 { return 1 }

// A small is a small cluster whose jobs run as they are planned.
type small struct {
	t *testing.T
	p *Policy
	s *policy.Snapshot

	last   *policy.Plan // of the last round
	before *policy.Snapshot
	work   map[job.ID]float64 // real work of jobs that state another
}

func newSmall(t *testing.T, o Options, nodes, gpus int) *small {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &small{t: t, p: p, s: &policy.Snapshot{Now: now, Length: time.Minute, Cluster: clusterOf(t, "a100", nodes, gpus)}}
}

func clusterOf(t testing.TB, gpu cluster.GPUType, nodes, gpus int) *cluster.Cluster {
	t.Helper()
	all := make([]cluster.Node, nodes)
	for i := range all {
		all[i] = cluster.Node{ID: cluster.NodeID(fmt.Sprintf("%s-%d", gpu, i)), GPUType: gpu, Capacity: cluster.Resources{GPUs: gpus}}
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// submit adds a rigid job of so many GPUs that takes so long on them.
func (w *small) submit(id job.ID, gpus int, takes time.Duration, set ...func(*job.Spec)) {
	spec := &job.Spec{ID: id, GPUs: gpus, BatchSize: 64, RestartOverhead: 30 * time.Second, Batch: job.BatchLimits{Init: 64, Max: 64}}
	spec.Target = 10 * float64(gpus) * takes.Seconds()
	for _, f := range set {
		f(spec)
	}
	w.s.Jobs = append(w.s.Jobs, &policy.Job{
		Spec: spec, Limits: &spec.Batch, Perf: rated(10), Status: job.Status{Phase: job.Waiting, Submitted: w.s.Now},
	})
}

// round plans, and returns who has GPUs. A minute goes by; who is done leaves.
func (w *small) round() map[job.ID]int {
	w.t.Helper()
	plan, err := w.p.Plan(w.t.Context(), w.s)
	if err == nil {
		err = policy.Check(w.s, plan)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.last, w.before = plan, w.s
	has, rest := make(map[job.ID]int), []*policy.Job{}
	for i, j := range w.s.Jobs {
		row, a := *j, plan.Jobs[i].Allocation
		if a.Configuration != j.Allocation.Configuration {
			row.Since, row.Allocation, row.Phase = w.s.Now, a, job.Running
			if a.IsZero() {
				row.Phase = job.Waiting
			} else if row.FirstStarted.IsZero() {
				row.FirstStarted = w.s.Now
			}
			if row.NoCheckpoint {
				row.Progress = 0
			}
		}
		if a.GPUs > 0 {
			has[j.ID] = a.GPUs
			row.Progress += 10 * float64(a.GPUs) * w.s.Length.Seconds()
			row.Reported = w.s.Now.Add(w.s.Length)
		}
		if work := cmp.Or(w.work[j.ID], row.Target); work == 0 || row.Progress < work {
			rest = append(rest, &row)
		}
	}
	next := *w.s
	next.Jobs, next.Round, next.Now = rest, w.s.Round+1, w.s.Now.Add(w.s.Length)
	w.s = &next
	return has
}

// The shortest of what is left runs first, whatever the order of submission.
func TestPlan_shortest_first(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	w.submit("long", 1, 3*time.Hour)
	w.submit("short", 1, time.Hour)
	w.submit("longer", 1, 4*time.Hour)
	if has := w.round(); has["short"] != 1 {
		t.Errorf("%v have GPUs, want the shortest", has)
	}
}

// A job that needs the whole node is not starved by short ones that keep coming: its
// finish-time fairness gets worse, and its weight with it.
func TestPlan_starves_nobody(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 8)
	w.submit("wide", 8, 2*time.Hour)
	for n := range 6000 { // a hundred hours
		for len(w.s.Jobs) < 13 {
			w.submit(job.ID(fmt.Sprintf("short-%d-%d", n, len(w.s.Jobs))), 1, 30*time.Minute)
		}
		if w.round()["wide"] == 8 {
			t.Logf("began after %d minutes", n)
			return
		}
	}
	t.Error("never began")
}

// Two jobs that are the longest by turns do not take turns: a preemption costs.
func TestPlan_takes_no_turns(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	w.submit("a", 1, 200*time.Hour)
	w.submit("b", 1, 200*time.Hour)
	before, changes := w.round(), 0
	for range 1000 {
		has := w.round()
		if has["a"] != before["a"] {
			changes++
		}
		before = has
	}
	if changes > 5 {
		t.Errorf("the GPU went to the other %d times in 1000 minutes", changes)
	}
}

// What a job without checkpoints would lose is weighed against what a shorter one
// gains: one that has run for an hour goes on.
func TestPlan_weighs_lost_work(t *testing.T) {
	for _, unsaved := range []bool{false, true} {
		w := newSmall(t, DefaultOptions(), 1, 1)
		w.submit("first", 1, 10*time.Hour, func(s *job.Spec) { s.NoCheckpoint = unsaved })
		for range 60 {
			w.round()
		}
		for i := range 8 {
			w.submit(job.ID(fmt.Sprint("short-", i)), 1, 10*time.Minute)
		}
		if has := w.round(); has["first"] != map[bool]int{true: 1}[unsaved] {
			t.Errorf("without checkpoints %v: %v have the GPU", unsaved, has)
		}
	}
}

// A job that states nothing is believed to be like those of its class that ended; with
// sizes by attained work, both are alike.
func TestSizes(t *testing.T) {
	for sizes, want := range map[string]job.ID{Stated: "small-2", Class: "small-2", Attained: "big-2"} {
		o := DefaultOptions()
		o.Sizes = sizes
		w := newSmall(t, o, 2, 1)
		class := func(c job.Class) func(*job.Spec) { return func(s *job.Spec) { s.Class = c } }
		w.submit("small-1", 1, 20*time.Minute, class("small"))
		w.submit("big-1", 1, 5*time.Hour, class("big"))
		for len(w.s.Jobs) > 0 {
			w.round()
		}
		w.s.Cluster = clusterOf(t, "a100", 1, 1)
		silent := func(s *job.Spec) { s.Target = 0 }
		w.submit("big-2", 1, 0, class("big"), silent)
		w.submit("small-2", 1, 0, class("small"), silent)
		if has := w.round(); has[want] != 1 {
			t.Errorf("sizes %s: %v have the GPU, want %s", sizes, has, want)
		}
	}
}

// The path of the longest job is the span where the others fill what it leaves; what it
// counts for the makespan is at most what the shortest counts for the mean.
func TestWeigh_slack(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 4)
	w.submit("path", 1, 10*time.Hour)
	w.submit("short", 1, time.Hour)
	w.round()
	path, short := w.p.jobs["path"], w.p.jobs["short"]
	if want := 0.5 * 11 / 10; math.Abs(path.slack-want) > 1e-9 { // mean of paths by the span
		t.Errorf("slack %g, want %g", path.slack, want)
	}
	if short.slack > 1e-6 {
		t.Errorf("short %+v: want no slack", short)
	}
}

// The rank of an elastic job is how many jobs are no shorter; that of one with a fixed GPU count
// is between that and half the sum of √(other / length).
func TestRank(t *testing.T) {
	p := &Policy{spectrum: spectrum{lengths: []float64{100, 400, 900}, roots: 60}}
	for adaptivity, want := range map[job.Adaptivity][]float64{
		job.Adaptive: {3, 2, 1},
		0:            {3, math.Sqrt(2 * 1.5), 1},
	} {
		for i, length := range p.lengths {
			j := &policy.Job{Spec: &job.Spec{Adaptivity: adaptivity}}
			if got := p.rank(j, &state{length: length}); math.Abs(got-want[i]) > 1e-9 {
				t.Errorf("adaptivity %v, length %v: rank %g, want %g", adaptivity, length, got, want[i])
			}
		}
	}
}

// A job of which nothing is known is not the shortest of all.
func TestMeasure_unknown_size(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	w.submit("unknown", 1, 0)
	w.submit("short", 1, 5*time.Minute)
	if has := w.round(); has["short"] != 1 || w.p.jobs["unknown"].length != few {
		t.Errorf("%v have the GPU; the unknown one is taken to be %+v", has, w.p.jobs["unknown"])
	}
}

// A job whose workers join and leave moves to other GPUs of its type at no cost; all else
// costs what it takes, over the time in which it has to pay.
func TestCharge(t *testing.T) {
	for name, test := range map[string]struct {
		left time.Duration
		set  func(*job.Spec)
		want map[string]float64 // by column
	}{
		"over the horizon":      {100 * time.Hour, func(*job.Spec) {}, map[string]float64{"a100-4": 0.9 * 900 / 930, "t4-1": 0.9 * 900 / 930}},
		"over what is left":     {8 * time.Minute, func(*job.Spec) {}, map[string]float64{"a100-4": 0.9 * 120 / 150, "t4-1": 0.9 * 480 / 510}},
		"in place":              {100 * time.Hour, func(s *job.Spec) { s.Resizes = true }, map[string]float64{"a100-4": 1, "t4-1": 0.9 * 900 / 930}},
		"with no time to do it": {0, func(*job.Spec) {}, map[string]float64{"a100-4": hopeless}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSmall(t, DefaultOptions(), 1, 4)
			w.s.Cluster = mixed(t)
			w.submit("a", 1, test.left, func(s *job.Spec) { s.Adaptivity, s.Batch.Max = job.Adaptive, 1024 }, test.set)
			j := w.s.Jobs[0]
			j.Phase, j.Allocation.Configuration = job.Running, cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a100"}
			rows, err := w.p.program.Prepare(w.s, func(rows []*goodput.Row) {
				w.p.measure(w.s, rows)
				w.p.active[0].left = j.Target
				w.p.charge(w.s, w.s, rows)
				rows[0].Worth.Weight = 1
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows[0].Columns() {
				c, worth := rows[0].Column(i), rows[0].Worth
				got := worth.Factor
				if worth.Factors != nil {
					got = worth.Factors[i]
				}
				if want, ok := test.want[fmt.Sprintf("%s-%d", c.GPUType, c.GPUs)]; ok && math.Abs(got-want) > 1e-12 {
					t.Errorf("a move to %v leaves %g, want %g", c, got, want)
				}
			}
		})
	}
}

// mixed has a node of four a100 and one of four t4.
func mixed(t *testing.T) *cluster.Cluster {
	c, err := cluster.New(append(clusterOf(t, "a100", 1, 4).Nodes(), clusterOf(t, "t4", 1, 4).Nodes()...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNew_explains_what_is_wrong(t *testing.T) {
	o := DefaultOptions()
	o.Lambda, o.Makespan, o.Sizes, o.Growth = -1, 2, "guess", 0
	_, err := New(o)
	const want = "oxgang: growth 0, want at least 1\nlambda -1, want more than 0\nmakespan 2, want 0 to 1\n" +
		"sizes \"guess\", want stated, class or attained"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func (rated) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

// A policy that begins in the middle of a run, as after a restart, takes jobs to have been among others before, as they were: it
// weighs them as one that saw them come.
func TestPolicy_begins_in_the_middle(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 2)
	for _, id := range []job.ID{"a", "b", "c", "d", "e", "f"} {
		w.submit(id, 2, 40*time.Hour, func(s *job.Spec) { s.Adaptivity = job.Adaptive })
	}
	for range 600 {
		w.round()
	}
	old, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	old, w.p = w.p, old
	for range 3 {
		if _, err := old.Plan(t.Context(), w.s); err != nil {
			t.Fatal(err)
		}
		w.round()
	}
	for id, st := range old.jobs {
		if got := w.p.jobs[id].rho; math.Abs(got-st.rho) > 0.01*st.rho {
			t.Errorf("job %s: finish-time fairness %.3f for a policy that begins, and %.3f for one that saw it come", id, got, st.rho)
		}
	}
}

// A job of whose speed nothing is known keeps what it holds: to stop it for fewer GPUs, which nobody else wants, costs a restart.
func TestPlan_of_fewer(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 4)
	w.submit("a", 2, time.Hour, func(s *job.Spec) {
		s.MinGPUs, s.MaxGPUs, s.Adaptivity, s.Batch = 2, 4, job.GPUCount|job.AnyGPUType, job.BatchLimits{Init: 64, Max: 64, LocalMin: 1, LocalMax: map[cluster.GPUType]int{"a100": 64}}
	})
	j := w.s.Jobs[0]
	j.Perf, j.Phase, j.Since = nil, job.Running, w.s.Now
	j.Allocation = cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a100"}}
	j.Placement = cluster.Placement{{Node: "a100-0", Resources: cluster.Resources{GPUs: 4}}}
	plan, err := w.p.Plan(t.Context(), w.s)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Jobs[0]; got.Allocation.GPUs != 4 {
		t.Errorf("it gets %d GPUs, %+v, want the 4 that it has", got.Allocation.GPUs, got.Why)
	}
}
