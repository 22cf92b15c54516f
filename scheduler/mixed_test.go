package scheduler_test

import (
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// twoTypes is a scheduler of a node of eight v100 and two of eight t4, two of which do the work
// of one, with one elastic job of four to eight GPUs.
func twoTypes(t *testing.T, resizes bool, o scheduler.Options) *bench {
	t.Helper()
	var all []cluster.Node
	for _, id := range []cluster.NodeID{"t0", "t1", "v0"} {
		n := cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 8}}
		if id == "v0" {
			n.GPUType = "v100"
		}
		all = append(all, n)
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	p := &scripted{}
	s, err := scheduler.New(p, asPlanned{}, c, o)
	if err != nil {
		t.Fatal(err)
	}
	d := &bench{s, t, p, epoch}
	d.step(scheduler.Submitted{Spec: &job.Spec{
		ID: "a", GPUs: 4, MinGPUs: 4, MaxGPUs: 8, Resizes: resizes, Adaptivity: job.StrongScaling | job.Heterogeneous,
		Equivalents: map[cluster.GPUType]int{"t4": 2},
	}})
	return d
}

// gives makes the policy grant the job a what is on its nodes: v100 first, unless there are
// only t4.
func (d *bench) gives(at cluster.Placement) {
	d.policy.spoil = func(p *policy.Plan) (*policy.Plan, error) {
		var own, lent cluster.Configuration
		for _, s := range at {
			c := &own
			if c.GPUType = "v100"; s.Node != "v0" {
				c, lent.GPUType = &lent, "t4"
			}
			c.Nodes, c.GPUs = c.Nodes+1, c.GPUs+s.GPUs
		}
		a := cluster.Allocation{Configuration: own, Also: lent}
		if own.GPUs == 0 {
			a.Configuration, a.Also = lent, cluster.Configuration{}
		}
		p.Jobs[0] = policy.Decision{Allocation: a, Placement: at}
		return p, nil
	}
}

// What stays is counted in what it is worth, whatever type it is of.
func TestScheduler_resizes_jobs_on_two_types(t *testing.T) {
	for name, c := range map[string]struct {
		from, to cluster.Placement
		resized  bool
	}{
		"a second type comes":               {on(share("v0", 4)), on(share("t0", 8), share("v0", 4)), true},
		"the second type goes":              {on(share("t0", 8), share("v0", 4)), on(share("v0", 4)), true},
		"the first type goes":               {on(share("t0", 8), share("v0", 4)), on(share("t0", 8)), true},
		"the first type comes":              {on(share("t0", 8)), on(share("t0", 8), share("v0", 2)), true},
		"enough stays of both together":     {on(share("t0", 4), share("v0", 4)), on(share("t0", 4), share("v0", 2)), true},
		"too little stays of both together": {on(share("t0", 4), share("v0", 4)), on(share("t0", 2), share("t1", 4), share("v0", 2)), false},
		"as many GPUs, worth less":          {on(share("t0", 4), share("v0", 4)), on(share("t0", 4), share("t1", 4)), false},
		"nothing stays":                     {on(share("t0", 8)), on(share("t1", 8)), false},
	} {
		for _, resizes := range []bool{true, false} {
			d := twoTypes(t, resizes, unprofiled())
			d.gives(c.from)
			d.round()
			d.gives(c.to)
			_, plan, acts := d.round()
			if len(acts) != 1 {
				t.Fatalf("%s: got %v, refused %q, want one action", name, acts, plan.Refused)
			}
			want := c.resized && resizes
			if got := acts[0].(scheduler.Run).Resized; got != want || d.row("a").Restarts == 0 != want {
				t.Errorf("%s, resizes %v: resized %v, %d restarts, want %v", name, resizes, got, d.row("a").Restarts, want)
			}
		}
	}
}

// A job on two types that keeps its GPUs is left alone; one that moves is restarted, where
// moves are free too: its shape says nothing of types.
func TestScheduler_never_moves_jobs_on_two_types_for_free(t *testing.T) {
	o := unprofiled()
	o.FreeMoves = true
	d := twoTypes(t, false, o)
	d.gives(on(share("t0", 4), share("v0", 4)))
	d.round()
	if _, _, acts := d.round(); len(acts) != 0 {
		t.Errorf("got %v, want nothing: it keeps its GPUs", acts)
	}
	d.gives(on(share("t1", 4), share("v0", 4)))
	if _, _, acts := d.round(); len(acts) != 1 || acts[0].(scheduler.Run).Free || d.row("a").Restarts != 1 {
		t.Errorf("got %v, want a restart", acts)
	}
}

func TestRun_InPlace_of_two_types(t *testing.T) {
	at := on(share("t0", 4), share("v0", 4))
	held := cluster.Allocation{
		Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"},
		Also:          cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "t4"},
	}
	run := scheduler.Run{Job: "a", Allocation: held, Placement: at, Batch: job.BatchSize{Local: 2}}
	if !run.InPlace(held, at) {
		t.Error("the same GPUs: want it in place")
	}
	run.Allocation.Also.GPUs = 2
	if run.InPlace(held, at) {
		t.Error("other GPUs of the second type: want it elsewhere")
	}
}
