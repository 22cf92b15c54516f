package scheduler_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

var epoch = schedulertest.Epoch

// A scripted policy grants jobs GPUs of nodes by name; a spoiler changes its
// plan, or answers in its stead.
type scripted struct {
	grants map[job.ID]cluster.Placement
	spoil  func(*policy.Plan) (*policy.Plan, error)
}

func (*scripted) Traits() policy.Traits { return policy.Traits{} }

func (p *scripted) Plan(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
	for i, j := range s.Jobs {
		if at := p.grants[j.ID]; at != nil && j.Phase != job.Profiling {
			c := cluster.Configuration{Nodes: len(at), GPUs: at.GPUs(), GPUType: "t4"}
			plan.Jobs[i] = policy.Decision{Allocation: cluster.Allocation{Configuration: c}, Placement: at}
		}
	}
	if p.spoil != nil {
		return p.spoil(plan)
	}
	return plan, nil
}

type asPlanned struct{}

func (asPlanned) Place(_ context.Context, _ *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	return p, nil
}

// A bench is a scheduler of two nodes of four GPUs, worked by hand.
type bench struct {
	*scheduler.Scheduler
	testing.TB
	policy *scripted
	now    time.Time
}

func newBench(t *testing.T, o scheduler.Options) *bench {
	t.Helper()
	p := &scripted{grants: map[job.ID]cluster.Placement{}}
	s, err := scheduler.New(p, asPlanned{}, nodes(t, "n0", "n1"), o)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{s, t, p, epoch}
}

func nodes(t testing.TB, ids ...cluster.NodeID) *cluster.Cluster {
	t.Helper()
	var all []cluster.Node
	for _, id := range ids {
		all = append(all, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func unprofiled() scheduler.Options { return scheduler.Options{Round: time.Minute} }

func on(shares ...cluster.Share) cluster.Placement { return shares }

func share(id cluster.NodeID, gpus int) cluster.Share {
	return cluster.Share{Node: id, Resources: cluster.Resources{GPUs: gpus}}
}

func (d *bench) step(ev scheduler.Event) []scheduler.Action {
	d.Helper()
	acts, err := d.Step(d.now, ev)
	if err != nil {
		d.Fatal(err)
	}
	return acts
}

func (d *bench) submit(ids ...job.ID) {
	d.Helper()
	for _, id := range ids {
		d.step(scheduler.Submitted{Spec: &job.Spec{ID: id, Adaptivity: job.StrongScaling}})
	}
}

func (d *bench) report(id job.ID, progress float64) {
	d.Helper()
	d.step(scheduler.Reported{Report: job.Report{Job: id, Configuration: d.row(id).Allocation.Configuration, Progress: progress}})
}

func (d *bench) round() (*policy.Snapshot, *policy.Plan, []scheduler.Action) {
	d.now = d.now.Add(time.Minute)
	return d.Round(context.Background(), d.now)
}

func (d *bench) row(id job.ID) *policy.Job {
	for _, j := range d.Snapshot(d.now).Jobs {
		if j.ID == id {
			return j
		}
	}
	d.Fatalf("job %s is not shown", id)
	return nil
}

func TestScheduler_life_of_a_job(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a")
	if s, _, _ := d.round(); s.Jobs[0].Phase != job.Waiting {
		t.Errorf("submitted: got %v", s.Jobs[0].Phase)
	}
	d.policy.grants["a"] = on(share("n0", 2))
	_, _, acts := d.round()
	run := scheduler.Run{Job: "a", Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}}, Placement: on(share("n0", 2))}
	if diff := cmp.Diff([]scheduler.Action{run}, acts); diff != "" {
		t.Errorf("granted: %s", diff)
	}
	if got := d.row("a"); got.Phase != job.Restoring || !got.FirstStarted.Equal(d.now) || got.Restarts != 0 {
		t.Errorf("granted: got %+v", got.Status)
	}
	d.report("a", 1)
	if got := d.row("a"); got.Phase != job.Running || got.Progress != 1 {
		t.Errorf("reported: got %+v", got.Status)
	}
	if _, _, acts := d.round(); len(acts) != 0 {
		t.Errorf("the same again: got %v, want nothing to do", acts)
	}
	delete(d.policy.grants, "a")
	_, _, acts = d.round()
	if diff := cmp.Diff([]scheduler.Action{scheduler.Preempt{Job: "a"}}, acts); diff != "" {
		t.Errorf("preempted: %s", diff)
	}
	if got := d.row("a"); got.Phase != job.Waiting || got.Holding() || got.Service != 2*time.Minute || got.GPUService != 4*time.Minute {
		t.Errorf("preempted: got %+v", got.Status)
	}
	d.step(scheduler.Exited{Job: "a", Outcome: scheduler.Cancelled})
	if s, _, _ := d.round(); s != nil || d.Jobs() != 0 {
		t.Errorf("cancelled: got %d jobs and snapshot %v, want none", d.Jobs(), s)
	}
}

// A late report tells how fast the job was where it came from, but not that
// the job trains where it is.
func TestScheduler_a_report_from_elsewhere(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a")
	d.policy.grants["a"] = on(share("n0", 2))
	d.round()
	d.report("a", 1)
	d.policy.grants["a"] = on(share("n0", 4))
	d.round()
	old := job.Report{
		Job: "a", Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}, Batch: job.BatchSize{Local: 8},
		StepTime: time.Second, Progress: 7,
	}
	d.step(scheduler.Reported{Report: old})
	if got := d.row("a"); got.Phase != job.Restoring || got.Progress != 1 || got.Status.Batch != (job.BatchSize{}) {
		t.Errorf("late: got %+v, want it restoring, and nothing else", got.Status)
	}
	if got := d.row("a"); got.Status.MaxGPUs != 2 || got.Perf == nil {
		t.Errorf("late: got at most %d GPUs and model %v, want 2 and what was measured", got.Status.MaxGPUs, got.Perf)
	}
	d.report("a", 3)
	if got := d.row("a"); got.Phase != job.Running || got.Progress != 3 {
		t.Errorf("from where it is: got %+v", got.Status)
	}
}

func TestScheduler_restarts(t *testing.T) {
	for name, c := range map[string]struct {
		free bool
		to   cluster.Placement
		want int
	}{
		"more GPUs":                         {false, on(share("n0", 4)), 1},
		"another node":                      {false, on(share("n1", 2)), 1},
		"another node, free":                {true, on(share("n1", 2)), 0},
		"another shape, though free":        {true, on(share("n0", 1), share("n1", 1)), 1},
		"more GPUs, though free":            {true, on(share("n0", 4)), 1},
		"other CPUs and memory where it is": {false, on(cluster.Share{Node: "n0", Resources: cluster.Resources{GPUs: 2, CPUs: 6, Memory: 100}}), 0},
		"where it is, which is no action":   {false, on(share("n0", 2)), 0},
	} {
		o := unprofiled()
		o.FreeMoves = c.free
		d := newBench(t, o)
		d.submit("a")
		d.policy.grants["a"] = on(share("n0", 2))
		d.round()
		d.report("a", 1)
		d.policy.grants["a"] = c.to
		_, _, acts := d.round()
		row := d.row("a")
		if row.Restarts != c.want || (row.Phase == job.Restoring) != (c.want == 1) || !row.Placement.Equal(c.to) {
			t.Errorf("%s: got %d restarts, %v on %v, want %d", name, row.Restarts, row.Phase, row.Placement, c.want)
		}
		for _, a := range acts {
			if a.(scheduler.Run).Free != (c.free && c.want == 0) {
				t.Errorf("%s: got %+v", name, a)
			}
		}
	}
}

func TestScheduler_an_unchanged_row_keeps_its_pointer(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a", "b")
	d.policy.grants["a"] = on(share("n0", 2))
	d.round()
	for name, c := range map[string]struct {
		change func()
		a, b   bool // keep their pointers
	}{
		"nothing":       {func() {}, true, true},
		"a round":       {func() { d.round() }, true, true},
		"a report of a": {func() { d.report("a", 2) }, false, true},
		"b is given GPUs": {func() {
			d.policy.grants["b"] = on(share("n1", 1))
			d.round()
		}, true, false},
		"other nodes": {func() { d.step(scheduler.NodesChanged{Cluster: nodes(t, "n0", "n1", "n2")}) }, true, true},
	} {
		delete(d.policy.grants, "b")
		d.round()
		a, b := d.row("a"), d.row("b")
		before := *a
		c.change()
		if got := d.row("a") == a; got != c.a {
			t.Errorf("%s: a keeps its pointer: %v, want %v", name, got, c.a)
		}
		if got := d.row("b") == b; got != c.b {
			t.Errorf("%s: b keeps its pointer: %v, want %v", name, got, c.b)
		}
		if diff := cmp.Diff(before.Status, a.Status); diff != "" {
			t.Errorf("%s: a row that was shown was modified: %s", name, diff)
		}
	}
}

func TestScheduler_profiles_come_first(t *testing.T) {
	d := newBench(t, scheduler.DefaultOptions())
	acts := d.step(scheduler.Submitted{Spec: &job.Spec{ID: "a", Adaptivity: job.StrongScaling}})
	if diff := cmp.Diff([]scheduler.Action{scheduler.Profile{Job: "a", Types: []cluster.GPUType{"t4"}}}, acts); diff != "" {
		t.Errorf("submitted: %s", diff)
	}
	d.policy.grants["a"] = on(share("n0", 1))
	if _, p, acts := d.round(); d.row("a").Phase != job.Profiling || len(acts) != 0 || p.Refused != "" {
		t.Errorf("being profiled: got %v, %v, refused %q", d.row("a").Phase, acts, p.Refused)
	}
	d.step(scheduler.Profiled{Job: "a"})
	if _, _, acts := d.round(); len(acts) != 1 {
		t.Errorf("profiled: got %v, want it to run", acts)
	}
	d.step(scheduler.Profiled{Job: "a"}) // late: it runs already
	if got := d.row("a").Phase; got != job.Restoring {
		t.Errorf("profiled again: got %v", got)
	}
}

func TestScheduler_events_that_contradict(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a")
	for _, ev := range []scheduler.Event{
		scheduler.Submitted{Spec: &job.Spec{ID: "a"}},
		scheduler.Reported{Report: job.Report{Job: "ghost"}},
		scheduler.Reported{Report: job.Report{Job: "a", Progress: math.NaN()}},
		scheduler.Exited{Job: "ghost"},
		scheduler.Profiled{Job: "ghost"},
		scheduler.Computed{Result: 7},
		nil,
	} {
		if _, err := d.Step(d.now, ev); err == nil {
			t.Errorf("%T: got no error", ev)
		}
	}
	d.step(scheduler.Exited{Job: "a", Outcome: scheduler.Done})
	for _, late := range []scheduler.Event{ // is ignored
		scheduler.Reported{Report: job.Report{Job: "a", Progress: 1}},
		scheduler.Exited{Job: "a", Outcome: scheduler.Failed},
		scheduler.Profiled{Job: "a"},
	} {
		if acts, err := d.Step(d.now, late); err != nil || acts != nil || d.Jobs() != 0 {
			t.Errorf("late %T: got %v, %v and %d jobs", late, acts, err, d.Jobs())
		}
	}
	if _, err := d.Step(d.now, scheduler.Submitted{Spec: &job.Spec{ID: "a"}}); err == nil {
		t.Error("an ID of the past: got no error")
	}
	d.step(scheduler.Submitted{Spec: &job.Spec{ID: "b"}})
	d.step(scheduler.Exited{Job: "b", Outcome: scheduler.Cancelled})
	d.step(scheduler.Reported{Report: job.Report{Job: "b", Progress: 1}}) // is ignored
	if d.step(scheduler.Submitted{Spec: &job.Spec{ID: "b"}}); d.Jobs() != 1 {
		t.Errorf("%d jobs, want the cancelled one that came back", d.Jobs())
	}
}

func TestScheduler_lost_nodes(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a", "b")
	d.policy.grants = map[job.ID]cluster.Placement{"a": on(share("n0", 2)), "b": on(share("n1", 2))}
	d.round()
	d.report("a", 5)
	d.step(scheduler.Exited{Job: "a", Outcome: scheduler.Lost})
	left := nodes(t, "n1")
	d.step(scheduler.NodesChanged{Cluster: left})
	if got := d.row("a"); got.Phase != job.Waiting || got.Holding() || d.Snapshot(d.now).Cluster != left {
		t.Errorf("lost: got %+v", got.Status)
	}
	if _, p, acts := d.round(); !strings.Contains(p.Refused, "node n0 is not in the cluster") || len(acts) != 0 {
		t.Errorf("a plan for a node that is gone: got %v, refused %q", acts, p.Refused)
	}
	d.policy.grants["a"] = on(share("n1", 2))
	if d.round(); d.row("a").Restarts != 1 || !d.row("b").Holding() {
		t.Errorf("run again: got %+v", d.row("a").Status)
	}
}

// A plan that breaks a rule, and a policy that fails, change nothing: every job
// keeps what it has, and the plan says why.
func TestScheduler_refuses(t *testing.T) {
	plans := func(change func(p *policy.Plan)) func(*policy.Plan) (*policy.Plan, error) {
		return func(p *policy.Plan) (*policy.Plan, error) { change(p); return p, nil }
	}
	for name, c := range map[string]struct {
		spoil func(*policy.Plan) (*policy.Plan, error)
		want  string
	}{
		"a panic":  {plans(func(*policy.Plan) { panic("out of luck") }), "policy panicked: out of luck"},
		"an error": {func(*policy.Plan) (*policy.Plan, error) { return nil, errors.New("no idea") }, "plan: no idea"},
		"no plan":  {func(*policy.Plan) (*policy.Plan, error) { return nil, nil }, "plan: none"},
		"too few":  {plans(func(p *policy.Plan) { p.Jobs = p.Jobs[:1] }), "1 decisions, want 2"},
		"NaN":      {plans(func(p *policy.Plan) { p.Jobs[0].Why.Value = math.NaN() }), "want finite numbers"},
		"infinite": {plans(func(p *policy.Plan) { p.Prices = []policy.TypePrice{{Type: "t4", Price: math.Inf(1)}} }), "want finite numbers"},
		"no such":  {plans(func(p *policy.Plan) { p.Jobs[0].Allocation.GPUType = "tpu" }), `GPU type "tpu" is not in the cluster`},
		"crowded":  {plans(func(p *policy.Plan) { p.Jobs[1] = p.Jobs[0] }), "node n0: 6 GPUs in use, want at most 4"},
		"over": {plans(func(p *policy.Plan) {
			p.Jobs[1] = policy.Decision{Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 2, GPUs: 6, GPUType: "t4"}}}
		}), "allocated 9 GPUs, want at most 8"},
		"half a job": {plans(func(p *policy.Plan) { p.Jobs[0].Placement = on(share("n0", 1)) }), "placed 1 GPUs, want the 3 allocated"},
	} {
		d := newBench(t, unprofiled())
		d.submit("a", "b")
		d.policy.grants = map[job.ID]cluster.Placement{"a": on(share("n0", 3)), "b": on(share("n1", 3))}
		d.round()
		before := d.row("a")
		d.policy.spoil = c.spoil
		_, p, acts := d.round()
		if !strings.Contains(p.Refused, c.want) || len(acts) != 0 {
			t.Errorf("%s: got refused %q and actions %v, want %q and none", name, p.Refused, acts, c.want)
		}
		if d.row("a") != before || len(p.Jobs) != 2 || p.Jobs[0].Allocation != before.Allocation || p.Jobs[0].Why.Kind != policy.Refused {
			t.Errorf("%s: got %+v, want the last plan to stay", name, p.Jobs)
		}
		d.policy.spoil = nil
		if _, p, _ := d.round(); p.Refused != "" {
			t.Errorf("%s: the next plan is refused too: %s", name, p.Refused)
		}
	}
}

// A still world submits one job, and then only time passes.
type still struct {
	now   time.Time
	first scheduler.Event
	acts  int
}

func (w *still) Now() time.Time { return w.now }

func (w *still) Next(_ context.Context, deadline time.Time) (scheduler.Event, error) {
	if ev := w.first; ev != nil {
		w.first = nil
		return ev, nil
	}
	w.now = deadline
	return nil, nil
}

func (w *still) Do(_ context.Context, acts []scheduler.Action) error {
	w.acts += len(acts)
	return nil
}

type rounds struct{ seen int }

func (*rounds) Event(time.Time, scheduler.Event) {}

func (r *rounds) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) { r.seen++ }

// Whoever ends a run while a policy thinks sees no plan of that round: what the
// policy answers then is not its best, or a complaint that it was ended.
func TestRun_ended_while_planning(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	d := newBench(t, unprofiled())
	d.policy.grants["a"] = on(share("n0", 2))
	d.policy.spoil = func(p *policy.Plan) (*policy.Plan, error) { cancel(); return p, nil }
	w, obs := &still{now: epoch, first: scheduler.Submitted{Spec: &job.Spec{ID: "a", Adaptivity: job.StrongScaling}}}, &rounds{}
	if err := d.Run(ctx, w, obs); !errors.Is(err, context.Canceled) || obs.seen != 0 || w.acts != 0 {
		t.Errorf("got error %v, %d rounds and %d actions, want %v and none", err, obs.seen, w.acts, context.Canceled)
	}
}

func TestOptions_Validate(t *testing.T) {
	o := scheduler.Options{Round: -1}
	o.Estimate.Smoothing = 1
	_, err := scheduler.New(&scripted{}, asPlanned{}, nodes(t, "n0"), o)
	for _, want := range []string{"round -1ns", "smoothing 1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	o = scheduler.DefaultOptions()
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

// What is shown of a job without checkpoints that moves is not what it did elsewhere.
func TestScheduler_restarts_jobs_without_checkpoints_anew(t *testing.T) {
	for none, want := range map[bool]float64{false: 5, true: 0} {
		d := newBench(t, unprofiled())
		d.step(scheduler.Submitted{Spec: &job.Spec{ID: "a", GPUs: 4, NoCheckpoint: none}})
		d.policy.grants["a"] = on(share("n0", 4))
		d.round()
		d.step(scheduler.Reported{Report: job.Report{Job: "a", Configuration: d.row("a").Allocation.Configuration, Progress: 5, Epoch: 5}})
		d.policy.grants["a"] = on(share("n1", 4))
		d.round()
		if row := d.row("a"); row.Phase != job.Restoring || row.Progress != want || row.Epoch != int(want) {
			t.Errorf("without checkpoints %t: %v with a progress of %g in epoch %d, want %v with %g in %g", none, row.Phase, row.Progress, row.Epoch, job.Restoring, want, want)
		}
	}
}

// A report of a profile tells how fast a job is with a batch size, and neither its progress nor its batch size.
func TestScheduler_a_report_of_a_profile(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a")
	d.policy.grants["a"] = on(share("n0", 2))
	d.round()
	d.report("a", 5)
	d.step(scheduler.Reported{Report: job.Report{
		Job: "a", Configuration: d.row("a").Allocation.Configuration, Batch: job.BatchSize{Local: 8}, StepTime: time.Second, Progress: 9, Epoch: 3, Profile: true,
	}})
	if got := d.row("a"); got.Progress != 5 || got.Epoch != 0 || got.Status.Batch != (job.BatchSize{}) {
		t.Errorf("got %+v, want the progress of the last report", got.Status)
	}
}

// The most GPUs of a job are those of its reports that measured a step.
func TestReported_most_GPUs(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a")
	for _, c := range []struct {
		gpus, want int
		step       time.Duration
	}{{2, 0, 0}, {2, 2, 1}, {1, 2, 1}, {3, 2, 0}} {
		d.step(scheduler.Reported{Report: job.Report{Job: "a", Configuration: cluster.Configuration{Nodes: 1, GPUs: c.gpus, GPUType: "t4"}, StepTime: c.step}})
		if got := d.row("a").Status.MaxGPUs; got != c.want {
			t.Errorf("after a report of %d GPUs with a step of %v: %d, want %d", c.gpus, c.step, got, c.want)
		}
	}
}
