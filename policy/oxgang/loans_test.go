package oxgang

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// lending returns a world of an owned node of one GPU and so many nodes of one t4 on loan,
// whose owner has more to spare.
func lending(t *testing.T, nodes int) *small {
	t.Helper()
	w := newSmall(t, DefaultOptions(), 1, 1)
	all := append([]cluster.Node{}, w.s.Cluster.Nodes()...)
	for _, n := range clusterOf(t, "t4", nodes, 1).Nodes() {
		n.Tenure, n.Group = cluster.Loaned, "search"
		all = append(all, n)
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	w.s.Cluster = c
	w.s.Loans = []cluster.Loan{{Group: "search", Node: all[1], Nodes: 9, Lent: nodes, Spare: 2}}
	return w
}

// runs lets a job hold the only GPU of a node.
func (w *small) runs(i int, of cluster.GPUType, node cluster.NodeID) {
	j := w.s.Jobs[i]
	j.Phase, j.Since = job.Running, w.s.Now
	j.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: of}
	j.Placement = cluster.Placement{{Node: node, Resources: cluster.Resources{GPUs: 1}}}
}

func (w *small) plan() *policy.Plan {
	w.t.Helper()
	plan, err := w.p.Plan(w.t.Context(), w.s)
	if err == nil {
		err = policy.Check(w.s, plan)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return plan
}

// What an owner would lend is borrowed, and what it wants back goes back, with the fewest jobs.
func TestPlan_borrows_and_returns(t *testing.T) {
	w := lending(t, 2)
	w.submit("a", 1, time.Hour)
	w.submit("b", 1, time.Hour)
	if plan := w.plan(); plan.Capacity["search"] != 4 || plan.Jobs[0].Allocation.IsZero() || plan.Jobs[1].Allocation.IsZero() {
		t.Errorf("%+v: want 4 nodes, and both jobs to run", plan)
	}
	w.runs(0, "a100", "a100-0")
	w.runs(1, "t4", "t4-0")
	w.s.Loans[0].Spare, w.s.Loans[0].Reclaim = 0, 1
	if plan := w.plan(); len(plan.Return) != 1 || plan.Return[0] != "t4-1" || plan.Jobs[1].Allocation.IsZero() {
		t.Errorf("%+v: want the idle node to go back", plan)
	}
	w.s.Loans[0].Reclaim = 2
	plan := w.plan()
	if len(plan.Return) != 2 || plan.Jobs[1].Why.Kind != policy.Reclaimed || plan.Jobs[0].Allocation.GPUType != "a100" {
		t.Errorf("%+v: want both to go back, and the job there to wait", plan)
	}
}

// A job that cannot change its GPU type does not in the round in which it loses its node.
func TestPlan_keeps_the_type_of_a_job_that_lost_its_node(t *testing.T) {
	for _, adaptivity := range []job.Adaptivity{0, job.AnyGPUType} {
		w := lending(t, 1)
		w.submit("a", 1, time.Hour, func(s *job.Spec) { s.Adaptivity = adaptivity })
		w.runs(0, "t4", "t4-0")
		w.s.Loans[0].Spare, w.s.Loans[0].Reclaim = 0, 1
		if d := w.plan().Jobs[0]; d.Allocation.IsZero() == adaptivity.Has(job.AnyGPUType) {
			t.Errorf("adaptivity %v: %+v", adaptivity, d)
		}
	}
}

// What the owner expects to want back keeps jobs off the nodes that would lose their work.
func TestPlan_risk(t *testing.T) {
	for name, test := range map[string]struct {
		set      func(*job.Spec)
		expected []int
		want     cluster.GPUType // that the job runs on; empty: it waits
	}{
		"nodes stay":                {func(s *job.Spec) { s.NoCheckpoint = true }, nil, "t4"},
		"nodes stay until it ends":  {func(s *job.Spec) { s.NoCheckpoint = true }, []int{1, 1, 0}, "t4"},
		"nodes go before it ends":   {func(s *job.Spec) { s.NoCheckpoint = true }, []int{1, 0}, ""},
		"but it has checkpoints":    {func(*job.Spec) {}, []int{1, 0}, "t4"},
		"it may not be preempted":   {func(s *job.Spec) { s.NonPreemptive = true }, nil, ""},
		"nodes go now, checkpoints": {func(*job.Spec) {}, []int{0}, "t4"},
	} {
		t.Run(name, func(t *testing.T) {
			w := lending(t, 1)
			w.submit("a", 1, time.Hour, func(s *job.Spec) { s.GPUTypes = []cluster.GPUType{"t4"} }, test.set)
			w.s.Loans[0].Spare, w.s.Loans[0].Expected, w.s.Loans[0].Every = 0, test.expected, 30*time.Minute
			if len(test.expected) == 3 { // an hour's work ends as the third interval begins
				w.s.Jobs[0].Target *= 0.99
			}
			if a := w.plan().Jobs[0].Allocation; a.GPUType != test.want {
				t.Errorf("runs on %v, want %q", a, test.want)
			}
		})
	}
}

// A type that is owned too is not on loan, however many of its nodes are.
func TestTenures(t *testing.T) {
	w := lending(t, 3)
	if lent := tenures(w.s); len(lent) != 1 || lent["t4"] == nil {
		t.Errorf("%v are on loan, want t4", lent)
	}
	w.s.Loans[0].Expected, w.s.Loans[0].Every = []int{5, 4, 1, 3}, time.Hour
	for within, want := range map[time.Duration]float64{time.Minute: 0, 90 * time.Minute: 0.2, 3 * time.Hour: 0.8, 99 * time.Hour: 0.8} {
		if got := w.p.owners.askedBack(tenures(w.s)["t4"], within); math.Abs(got-want) > 1e-9 {
			t.Errorf("within %v: %g asked back, want %g", within, got, want)
		}
	}
	own := append([]cluster.Node{{ID: "own", GPUType: "t4", Capacity: cluster.Resources{GPUs: 1}}}, w.s.Cluster.Nodes()...)
	var err error
	if w.s.Cluster, err = cluster.New(own); err != nil {
		t.Fatal(err)
	}
	if lent := tenures(w.s); len(lent) != 0 {
		t.Errorf("%v are on loan, want none", lent)
	}
}

// What had no placement is not granted again for 1, 2, 4, 8 and 8 rounds, and says why it waits.
func TestPlan_pauses_what_has_no_placement(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 2, 4)
	w.submit("small", 1, 100*time.Hour)
	w.submit("wide", 4, time.Hour)
	var granted []int
	for n := range 30 {
		plan := w.plan()
		if d := plan.Jobs[1]; !d.Allocation.IsZero() {
			granted = append(granted, n)
		} else if d.Why.Kind != policy.Evicted || d.Why.Config.GPUs != 4 {
			t.Errorf("round %d: %+v, want evicted", n, d.Why)
		}
		next := *w.s
		next.Round++
		if row := *w.s.Jobs[0]; n == 0 { // it runs; the other has no placement
			row.Phase, row.Allocation = job.Running, plan.Jobs[0].Allocation
			next.Jobs = []*policy.Job{&row, w.s.Jobs[1]}
		}
		w.s = &next
	}
	if want := []int{0, 2, 5, 10, 19, 28}; !slices.Equal(granted, want) {
		t.Errorf("granted in rounds %v, want %v", granted, want)
	}
}

// What would be done twice is worth the GPUs that it takes at their price: a job that grew a
// minute ago has as much to lose as before. With a limit against backfilling it would never be stopped.
func TestPlan_lost_work_of_a_resized_job(t *testing.T) {
	o := DefaultOptions()
	o.Margin = 0
	w := newSmall(t, o, 1, 2)
	w.submit("first", 1, 10*time.Hour, func(s *job.Spec) { s.NoCheckpoint, s.Resizes = true, true; s.Adaptivity = job.GPUCount; s.MaxGPUs = 2 })
	for range 60 {
		w.round()
	}
	if j := w.s.Jobs[0]; j.Allocation.GPUs != 2 {
		t.Fatalf("%v, want both GPUs", j.Allocation)
	}
	row := *w.s.Jobs[0]
	row.Service, row.Since = row.AttainedService(w.s.Now), w.s.Now // it has just been resized
	w.s.Jobs[0] = &row
	for i := range 8 {
		w.submit(job.ID([]string{"a", "b", "c", "d", "e", "f", "g", "h"}[i]), 2, 10*time.Minute)
	}
	if has := w.round(); has["first"] == 0 {
		t.Errorf("%v have GPUs, want the job that would lose an hour among them", has)
	}
}

func TestWasted(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 2)
	w.submit("a", 2, time.Hour)
	rows, err := w.p.program.Prepare(w.s, func([]*goodput.Row) {})
	if err != nil {
		t.Fatal(err)
	}
	rows[0].Job().Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a100"}
	rows[0].Worth.Weight, w.p.prices["a100"] = 4, 6
	if got := w.p.wasted(rows[0], &state{unsaved: horizon / 3}); math.Abs(got-1) > 1e-9 { // 6 · 2 · ⅓ / 4
		t.Errorf("wasted work is worth %g, want 1", got)
	}
	if got := w.p.wasted(rows[0], &state{}); got != 0 {
		t.Errorf("no wasted work is worth %g", got)
	}
}

// An owner that always says that it wants its nodes back within the hour, and never does, is believed less and less:
// who would lose his work there goes there in the end, and hears why.
func TestPlan_loans_that_never_come_back(t *testing.T) {
	w := lending(t, 1)
	w.submit("a", 1, time.Hour, func(s *job.Spec) { s.GPUTypes, s.NoCheckpoint = []cluster.GPUType{"t4"}, true })
	w.s.Loans[0].Spare, w.s.Loans[0].Expected, w.s.Loans[0].Every = 0, []int{0}, 30*time.Minute
	waited := 0
	for ; w.plan().Jobs[0].Allocation.IsZero(); waited++ {
		if waited > 3000 {
			t.Fatal("never began, want the owner to be believed less")
		}
		next := *w.s
		next.Round, next.Now = w.s.Round+1, w.s.Now.Add(w.s.Length)
		w.s = &next
	}
	if waited < 2*60 {
		t.Errorf("began after %d minutes, want the owner to be believed at first", waited)
	}
	if words := "the owner of the t4 wanted them back 0 of the "; !w.assumes("a", words) {
		x, _ := w.p.Weighed("a")
		t.Errorf("the plan assumed %q, want %q", x.Assumed, words)
	}
}

// An owner that wants its nodes back as it said is believed as before, and nodes that never return to us are not waited for.
func TestForecast(t *testing.T) {
	var f forecast
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := cluster.Loan{Lent: 3, Expected: []int{3, 1}, Every: time.Hour}
	for k, lends := range []int{3, 3, 1, 1} {
		l.Lent = lends
		f.heed(&l, now.Add(time.Duration(k)*time.Hour))
	}
	if f.right != 1 || f.wrong != 0 || f.belief() != 1 {
		t.Errorf("%+v: want a forecast that came true", f)
	}
	l.Expected = []int{0}
	for k := range 4 {
		f.heed(&l, now.Add(time.Duration(4+k)*time.Hour))
	}
	if f.right != 1 || f.wrong != 3 || math.Abs(f.belief()-4.0/7) > 1e-12 {
		t.Errorf("%+v, belief %g: want three that did not", f, f.belief())
	}
	w := lending(t, 1)
	w.submit("a", 1, time.Hour)
	w.s.Loans[0].Spare, w.s.Loans[0].Lent, w.s.Loans[0].Expected, w.s.Loans[0].Every = 0, 0, []int{9, 9}, time.Hour
	w.s.Cluster = clusterOf(t, "a100", 1, 1)
	if plan := w.plan(); plan.Jobs[0].Allocation.GPUType != "a100" || len(plan.Capacity) != 0 {
		t.Errorf("%+v: want what is there to be used, and nothing that is only foretold", plan)
	}
	w.want("a", "")
}

func TestPlan_says_that_an_owner_says_nothing(t *testing.T) {
	w := lending(t, 1)
	w.submit("a", 1, time.Hour, func(s *job.Spec) { s.GPUTypes = []cluster.GPUType{"t4"} })
	w.plan()
	w.want("a", "the owner of the t4 does not state when it needs them back: never is assumed")
}
