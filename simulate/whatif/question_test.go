package whatif_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	simrun "github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A questioner asks in one round, that does something, what would be if a job that runs were cancelled.
type questioner struct {
	*listener
	t      *testing.T
	at     int // the first round from this one on that does something; 0: it asks nothing
	now    time.Time
	of     *policy.Job
	answer *whatif.Answer
}

func (a *questioner) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	a.listener.Round(s, p, acts)
	if a.at == 0 || a.rounds < a.at || a.answer != nil || len(acts) == 0 {
		return
	}
	last, o := a.State()
	o.Between = 0
	i := slices.IndexFunc(p.Jobs, func(d policy.Decision) bool { return !d.Allocation.IsZero() }) // rows of others come after its own
	a.now, a.of = s.Now, s.Jobs[i]
	var err error
	if a.answer, err = whatif.Ask(a.t.Context(), last, o, whatif.Question{Cancel: a.of.ID}); err != nil {
		a.t.Fatal(err)
	}
}

// A policy with state continues from the round's decisions. If jobs are as fast as estimated and no more arrive,
// each ends within a second of the answer, for a cancellation a second after the round.
func TestAsk_goes_on(t *testing.T) {
	if testing.Short() {
		t.Skip("plays long runs")
	}
	under := load{"cluster=v100:2x8/24c/500g;generate.kind=synergy-static;generate.jobs=24;generate.multi-gpu=true", 1 << 30}
	play := func(at int, cancelled job.ID, after time.Duration) *questioner {
		const name = "oxgang"
		c, in, again, types := configured(t, name, under, 7)
		for i := range in.Arrivals {
			if a := &in.Arrivals[i]; a.Spec.ID == cancelled {
				a.CancelAfter = after
			}
		}
		a := &questioner{t: t, at: at, listener: newListener(t, under.every)}
		a.Predictor = whatif.NewPredictor(again.Fresh, again.Scheduler, types)
		watch := simrun.Watch{Whole: true, Observer: func(d *simrun.Decider) scheduler.Observer {
			a.watch(d)
			return a
		}}
		if _, err := simrun.SimulateWatched(t.Context(), c, in, name, watch); err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, at := range []int{40, 150} {
		asked := play(at, "", 0)
		done := play(0, asked.of.ID, asked.now.Sub(asked.of.Submitted)+time.Second)
		if n := len(asked.answer.Jobs); n < 3 || asked.answer.Sooner == 0 {
			t.Fatalf("round %d: %d jobs, of which %d would end sooner, want some", at, n, asked.answer.Sooner)
		}
		for _, h := range asked.answer.Jobs {
			ended := done.ends[h.Job].Sub(asked.now)
			if off := (h.After.Early - ended).Abs(); h.After.Why != whatif.Known || off > time.Second {
				t.Errorf("round %d: without %s job %s was to end in %v (%v), and did in %v", at, asked.of.ID, h.Job, h.After.Early, h.After.Why, ended)
			}
		}
	}
}

// hour returns a run after an hour, in which nothing is random, and the options to look ahead from there.
func hour(t *testing.T) (*run, *policy.Snapshot, *watch, whatif.Options) {
	t.Helper()
	r := mixed(t, 20).flat()
	r.knowing()
	r.scheduler.Profile = true
	seen, learner := newWatch(), whatif.NewLearner(r.estimate())
	snap := r.until(t, "fifo", time.Hour, seen, learner)
	o := options("fifo")
	o.Scheduler, o.Measured = r.scheduler, learner.Measured()
	return r, snap, seen, o
}

// TestAsk_is_what_happens asks what would be, does it, and compares: by one of the two simulations jobs end when they do.
func TestAsk_is_what_happens(t *testing.T) {
	r, snap, seen, o := hour(t)
	runs := slices.IndexFunc(snap.Jobs, func(j *policy.Job) bool { return j.Holding() })
	wide := slices.IndexFunc(snap.Jobs, func(j *policy.Job) bool { return j.Allocation.GPUs > 1 })
	waits := slices.IndexFunc(snap.Jobs, func(j *policy.Job) bool { return !j.Holding() })
	for name, q := range map[string]whatif.Question{
		"a job that runs is cancelled": {Cancel: snap.Jobs[runs].ID},
		"a job that waits is":          {Cancel: snap.Jobs[waits].ID},
		"a node comes":                 {Nodes: 1, Type: snap.Jobs[runs].Allocation.GPUType},
		"a job that waits has one GPU": {Resize: snap.Jobs[waits].ID, GPUs: 1},
		"a job that runs has fewer":    {Resize: snap.Jobs[wide].ID, GPUs: snap.Jobs[wide].Allocation.GPUs / 2},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := whatif.Ask(t.Context(), snap, o, q)
			if err != nil {
				t.Fatal(err)
			}
			ends := r.done(t, "fifo", snap, seen, q)
			if len(a.Jobs) != len(ends) || a.Sooner+a.Later+a.Same+a.Unknown != len(a.Jobs) {
				t.Fatalf("%d jobs, %d sooner, %d later, %d the same, %d unknown; want %d jobs", len(a.Jobs), a.Sooner, a.Later, a.Same, a.Unknown, len(ends))
			}
			for _, h := range a.Jobs {
				if h.After.Why != whatif.Known || !oneIs(h.After, ends[h.Job], 2*time.Second) {
					t.Errorf("job %s would end in %v to %v, want %v as it does", h.Job, h.After.Early, h.After.Late, ends[h.Job])
				}
			}
			if a.Sooner == 0 {
				t.Error("no job would end sooner")
			}
		})
	}
}

// done returns when jobs end, from a snapshot on, if that is done which is asked.
func (r *run) done(t *testing.T, name string, snap *policy.Snapshot, seen *watch, q whatif.Question) map[job.ID]time.Duration {
	t.Helper()
	stopped := *snap
	stopped.Jobs = slices.Clone(snap.Jobs)
	if i := snap.Index(q.Resize); i >= 0 && snap.Jobs[i].Holding() {
		stopped.Jobs[i] = snap.Jobs[i].Stopped(snap.Now)
	}
	rest, after := r.left(&stopped, seen), newWatch()
	rest.arrivals = slices.DeleteFunc(rest.arrivals, func(a workload.Arrival) bool { return a.Spec.ID == q.Cancel })
	delete(rest.world.Initial, q.Cancel)
	for i := range rest.arrivals {
		if a := &rest.arrivals[i]; a.Spec.ID == q.Resize {
			a.Spec.GPUs, a.Spec.MinGPUs, a.Spec.MaxGPUs = q.GPUs, q.GPUs, q.GPUs
		}
	}
	nodes := slices.Clone(r.cluster.Nodes())
	for range q.Nodes {
		n := nodes[slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.GPUType == q.Type })]
		n.ID = "another"
		nodes = append(nodes, n)
	}
	var err error
	if rest.cluster, err = cluster.New(nodes); err != nil {
		t.Fatal(err)
	}
	if err := rest.play(t, name, func(b scheduler.Backend) scheduler.Backend { return b }, after); err != nil {
		t.Fatal(err)
	}
	return after.ends
}

// The plan of the round that is already decided has the rows of the jobs that are left, and none for a job that is to have another size.
func TestAsk_changes_the_plan_of_the_round(t *testing.T) {
	_, snap, _, _ := hour(t)
	plan := &policy.Plan{Jobs: make([]policy.Decision, len(snap.Jobs))}
	for i, j := range snap.Jobs {
		plan.Jobs[i] = policy.Decision{Allocation: j.Allocation, Placement: j.Placement}
	}
	at := len(snap.Jobs) - 1
	for at > 0 && snap.Jobs[at].Allocation.GPUs < 2 {
		at--
	}
	id, has := snap.Jobs[at].ID, snap.Jobs[at].Allocation.GPUs
	for _, c := range []struct {
		q    whatif.Question
		want []policy.Decision
	}{
		{whatif.Question{Cancel: id}, slices.Delete(slices.Clone(plan.Jobs), at, at+1)},
		{whatif.Question{Resize: id, GPUs: has}, plan.Jobs},
		{whatif.Question{Resize: id, GPUs: has / 2}, slices.Replace(slices.Clone(plan.Jobs), at, at+1, policy.Decision{})},
		{whatif.Question{Nodes: 1, Type: snap.Jobs[at].Allocation.GPUType}, plan.Jobs},
	} {
		s, p, err := c.q.Of(snap, plan)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p.Jobs, c.want) || len(s.Jobs) != len(p.Jobs) {
			t.Errorf("%+v: %d jobs, plan %+v, want %+v", c.q, len(s.Jobs), p.Jobs, c.want)
		}
		if i := s.Index(id); i >= 0 && s.Jobs[i].Holding() != (p.Jobs[i].Allocation.GPUs > 0) {
			t.Errorf("%+v: the job holds GPUs: %t, and has %d by the plan", c.q, s.Jobs[i].Holding(), p.Jobs[i].Allocation.GPUs)
		}
	}
}

// A question that cannot be asked is refused, and says why.
func TestAsk_refuses(t *testing.T) {
	_, snap, _, o := hour(t)
	for want, q := range map[string]whatif.Question{
		"0 changes, want":                        {},
		"2 changes, want":                        {Cancel: "a", Nodes: 1, Type: "t4"},
		"job nobody: not in the last round":      {Cancel: "nobody"},
		"job none: not in the last round":        {Resize: "none", GPUs: 1},
		"no node has GPUs of type tpu":           {Nodes: 1, Type: "tpu"},
		`0 nodes of type "t4", want 1 to 1000`:   {Type: "t4"},
		`job "" on 3 GPUs, want a job`:           {GPUs: 3},
		`job "a" on -1 GPUs, want a job and at`:  {Resize: "a", GPUs: -1},
		"needs 9999 GPUs":                        {Resize: snap.Jobs[0].ID, GPUs: 9999},
		`1001 nodes of type "t4", want 1 to 100`: {Nodes: 1001, Type: "t4"},
	} {
		if _, err := whatif.Ask(t.Context(), snap, o, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
}
