package scheduler_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A keeping is a scripted policy that counts the running jobs that snapshots leave out.
type keeping struct {
	scripted
	traits policy.Traits
	spared []int // by round
}

func (p *keeping) Traits() policy.Traits { return p.traits }

func (p *keeping) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	n := 0
	if s.Continuing != nil {
		n = s.Continuing.Jobs
	}
	p.spared = append(p.spared, n)
	plan, err := p.scripted.Plan(ctx, s)
	for i, j := range s.Jobs {
		if j.Holding() {
			plan.Jobs[i].Why.Kind = policy.AsPlanned
		}
	}
	return plan, err
}

type incremental struct{ asPlanned }

func (incremental) Incremental() {}

// A snapshot leaves out the job that continues, unless something may change the decision about it. Job a starts in the
// first round, and a job comes before each round.
func TestLean_leaves_out(t *testing.T) {
	counting := func() *cluster.Cluster {
		c, err := cluster.New([]cluster.Node{{ID: "n0", GPUType: "t4", Capacity: cluster.Resources{CPUs: 8, GPUs: 4, Memory: 1 << 30}}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, test := range map[string]struct {
		change func(p *keeping, o *scheduler.Options, ev *scheduler.NodesChanged)
		again  bool // the nodes change before the fourth round
		whole  bool // the placer is not incremental
		spared []int
	}{
		"nothing changes": {spared: []int{0, 0, 1, 1}},
		"a node comes":    {again: true, spared: []int{0, 0, 1, 0}},
		"not lean":        {change: func(_ *keeping, o *scheduler.Options, _ *scheduler.NodesChanged) { o.Lean = false }},
		"classes are known": {change: func(_ *keeping, o *scheduler.Options, _ *scheduler.NodesChanged) {
			o.Known = func(time.Time) []*perf.ClassStats { return nil }
		}},
		"classes are learned":           {change: func(_ *keeping, o *scheduler.Options, _ *scheduler.NodesChanged) { o.Classes = true }},
		"jobs learn from others":        {change: func(_ *keeping, o *scheduler.Options, _ *scheduler.NodesChanged) { o.Estimate.Share = true }},
		"the policy goes by time":       {change: func(p *keeping, _ *scheduler.Options, _ *scheduler.NodesChanged) { p.traits.Steady = false }},
		"the policy may stop jobs":      {change: func(p *keeping, _ *scheduler.Options, _ *scheduler.NodesChanged) { p.traits.Keeps = false }},
		"the placer looks at every job": {whole: true},
		"nodes have CPUs":               {change: func(_ *keeping, _ *scheduler.Options, ev *scheduler.NodesChanged) { ev.Cluster = counting() }},
		"nodes can be rented and lent": {change: func(_ *keeping, _ *scheduler.Options, ev *scheduler.NodesChanged) {
			ev.Rentals, ev.Loans = offered(), lent()
		}},
		"nodes can be rented":            {change: func(_ *keeping, _ *scheduler.Options, ev *scheduler.NodesChanged) { ev.Rentals = offered() }},
		"nodes can be lent":              {change: func(_ *keeping, _ *scheduler.Options, ev *scheduler.NodesChanged) { ev.Loans = lent() }},
		"a background computation began": {change: func(p *keeping, _ *scheduler.Options, _ *scheduler.NodesChanged) { p.spoil = onceInBackground() }},
	} {
		t.Run(name, func(t *testing.T) {
			p := &keeping{scripted: scripted{grants: map[job.ID]cluster.Placement{"a": {{Node: "n0", Resources: cluster.Resources{GPUs: 1}}}}}}
			p.traits = policy.Traits{Steady: true, Keeps: true}
			o, ev := unprofiled(), scheduler.NodesChanged{Cluster: nodes(t, "n0", "n1")}
			o.Lean, o.Class = true, scheduler.DefaultOptions().Class
			if test.change != nil {
				test.change(p, &o, &ev)
			}
			s, err := scheduler.New(p, incremental{}, nodes(t, "n0", "n1"), o)
			if test.whole {
				s, err = scheduler.New(p, asPlanned{}, nodes(t, "n0", "n1"), o)
			}
			if err != nil {
				t.Fatal(err)
			}
			step(t, s, ev)
			for n, id := range []job.ID{"a", "b", "c", "d"} {
				if n == 3 && test.again {
					step(t, s, scheduler.NodesChanged{Cluster: nodes(t, "n0", "n1", "n2")})
				}
				step(t, s, scheduler.Submitted{Spec: &job.Spec{ID: id, GPUs: 1}})
				s.Round(t.Context(), epoch.Add(time.Duration(n)*time.Minute))
			}
			want := test.spared
			if want == nil {
				want = make([]int, 4)
			}
			if !slices.Equal(p.spared, want) {
				t.Errorf("left out %v jobs, want %v", p.spared, want)
			}
		})
	}
}

func offered() []cluster.Rental { return []cluster.Rental{{Offer: cluster.Offer{Group: "g", Most: 1}}} }

func lent() []cluster.Loan { return []cluster.Loan{{Group: "g"}} }

// onceInBackground makes the first plan begin a computation that does not end.
func onceInBackground() func(*policy.Plan) (*policy.Plan, error) {
	begun := false
	return func(p *policy.Plan) (*policy.Plan, error) {
		if !begun {
			begun, p.Background = true, func(context.Context) any { return 1 }
		}
		return p, nil
	}
}

// If a round leaves out jobs that continue, each of the others gets the policy's decision, wherever it is among them:
// job a waits before b, which runs, and c after it. They start when the policy grants them GPUs.
func TestLean_decisions_of_the_others(t *testing.T) {
	at := func(n cluster.NodeID) cluster.Placement {
		return cluster.Placement{{Node: n, Resources: cluster.Resources{GPUs: 1}}}
	}
	p := &keeping{scripted: scripted{grants: map[job.ID]cluster.Placement{"b": at("n0")}}, traits: policy.Traits{Steady: true, Keeps: true}}
	o := unprofiled()
	o.Lean, o.Class = true, scheduler.DefaultOptions().Class
	s, err := scheduler.New(p, incremental{}, nodes(t, "n0", "n1"), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []job.ID{"a", "b", "c"} {
		step(t, s, scheduler.Submitted{Spec: &job.Spec{ID: id, GPUs: 1}})
	}
	for n, granted := range []job.ID{"", "", "a", "c", ""} {
		if granted != "" {
			p.grants[granted] = at("n1")
		}
		step(t, s, scheduler.Submitted{Spec: &job.Spec{ID: job.ID("later" + string(rune('0'+n))), GPUs: 1}})
		_, plan, acts := s.Round(t.Context(), epoch.Add(time.Duration(n)*time.Minute))
		for i, d := range plan.Jobs {
			if want := []int{len(p.grants["a"]), 1, len(p.grants["c"]), 0, 0, 0, 0, 0}[i]; d.Allocation.GPUs != want {
				t.Errorf("round %d: job %d gets %d GPUs, want %d", n, i, d.Allocation.GPUs, want)
			}
		}
		if starts := len(acts); n > 0 && starts != len(granted) {
			t.Errorf("round %d: %v, want the start of %q", n, acts, granted)
		}
	}
	if p.spared[4] == 0 {
		t.Errorf("left out %v jobs, want some", p.spared)
	}
}
