package scheduler_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// rentable has an owned node, o, and four for rent, r0 to r3.
func rentable(t *testing.T) *cluster.Cluster {
	t.Helper()
	all := []cluster.Node{{ID: "o", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}}
	for _, id := range []cluster.NodeID{"r0", "r1", "r2", "r3"} {
		all = append(all, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Tenure: cluster.Rented, Group: "g"})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Of as many nodes as a plan wants, orders, cancellations and returns follow: nodes with
// jobs stay, and others go back from the last on.
func TestScheduler_rents(t *testing.T) {
	provision := func(n int) scheduler.Action { return scheduler.Provision{Group: "g", Nodes: n} }
	giveBack := func(ids ...cluster.NodeID) scheduler.Action { return scheduler.Return{Nodes: ids} }
	for name, c := range map[string]struct {
		ready, starting int
		want            int // -1: the plan does not say
		job             cluster.NodeID
		acts            []scheduler.Action
		back            []cluster.NodeID // that the plan gives back by name
	}{
		"those that the plan names":       {3, 0, 2, "", []scheduler.Action{giveBack("r0")}, []cluster.NodeID{"r0"}},
		"those that it names and others":  {4, 0, 2, "", []scheduler.Action{giveBack("r1", "r3")}, []cluster.NodeID{"r1"}},
		"one, though it wants as many":    {3, 0, 3, "", []scheduler.Action{giveBack("r0")}, []cluster.NodeID{"r0"}},
		"more":                            {0, 0, 3, "", []scheduler.Action{provision(3)}, nil},
		"more than are on their way":      {1, 1, 3, "", []scheduler.Action{provision(3)}, nil},
		"as many":                         {1, 2, 3, "", nil, nil},
		"nothing said":                    {1, 2, -1, "", nil, nil},
		"fewer on their way":              {1, 2, 2, "", []scheduler.Action{provision(2)}, nil},
		"fewer than are there":            {3, 0, 1, "", []scheduler.Action{giveBack("r2", "r1")}, nil},
		"fewer than are there, some come": {2, 2, 1, "", []scheduler.Action{provision(2), giveBack("r1")}, nil},
		"fewer, with a job on the last":   {3, 0, 1, "r2", []scheduler.Action{giveBack("r1", "r0")}, nil},
		"none, with a job on one":         {2, 0, 0, "r0", []scheduler.Action{giveBack("r1")}, nil},
		"none, with a job on all":         {1, 0, 0, "r0", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			all := rentable(t)
			p := &scripted{grants: make(map[job.ID]cluster.Placement), spoil: func(p *policy.Plan) (*policy.Plan, error) {
				if c.want >= 0 {
					p.Capacity = map[cluster.Group]int{"g": c.want}
				}
				p.Return = c.back
				return p, nil
			}}
			s, err := scheduler.New(p, asPlanned{}, all, unprofiled())
			if err != nil {
				t.Fatal(err)
			}
			d := &bench{s, t, p, epoch}
			if snap := d.Snapshot(epoch); len(snap.Cluster.Nodes()) != 1 || len(snap.Rentals) != 1 || snap.Rentals[0].Most != 4 {
				t.Errorf("at the start got nodes %v and rentals %v, want the owned node and an offer", snap.Cluster.Nodes(), snap.Rentals)
			}
			d.step(scheduler.NodesChanged{
				Cluster: all.Without(func(id cluster.NodeID) bool {
					i, _ := all.Index(id)
					return i > c.ready
				}),
				Rentals: []cluster.Rental{{Offer: all.Offers()[0], Ready: c.ready, Starting: c.starting}},
			})
			if c.job != "" {
				p.grants["j"] = on(share(c.job, 4))
				d.submit("j")
			}
			_, plan, acts := d.round()
			if plan.Refused != "" {
				t.Fatal(plan.Refused)
			}
			if c.job != "" {
				acts = acts[1:] // the Run
			}
			if diff := cmp.Diff(c.acts, acts, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

// lendable has an owned node, o, one for rent, r, and three to borrow, l0 to l2, of which
// so many are lent; spare says how many more could be.
func lendable(t *testing.T, lent, spare int) (all *cluster.Cluster, told scheduler.NodesChanged) {
	t.Helper()
	node := func(id cluster.NodeID, tenure cluster.Tenure, g cluster.Group) cluster.Node {
		return cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Tenure: tenure, Group: g}
	}
	all, err := cluster.New([]cluster.Node{
		node("o", cluster.Owned, ""), node("l0", cluster.Loaned, "l"), node("l1", cluster.Loaned, "l"), node("l2", cluster.Loaned, "l"),
		node("r", cluster.Rented, "r"),
	})
	if err != nil {
		t.Fatal(err)
	}
	told = scheduler.NodesChanged{Rentals: all.Rentals(), Loans: all.Loans()}
	told.Rentals[0].Ready, told.Loans[0].Lent, told.Loans[0].Spare = 1, lent, spare
	told.Cluster = all.Without(func(id cluster.NodeID) bool {
		i, _ := all.Index(id)
		return i > lent && id != "r"
	})
	return all, told
}

// More nodes are borrowed than are lent where a plan wants more; they go back where it says
// so, and only there, in one Return with those that are rented.
func TestScheduler_borrows(t *testing.T) {
	provision := func(n int) scheduler.Action { return scheduler.Provision{Group: "l", Nodes: n} }
	giveBack := func(ids ...cluster.NodeID) scheduler.Action { return scheduler.Return{Nodes: ids} }
	groups := func(l, r int) map[cluster.Group]int { return map[cluster.Group]int{"l": l, "r": r} }
	for name, c := range map[string]struct {
		lent, spare int
		want        map[cluster.Group]int
		back        []cluster.NodeID
		acts        []scheduler.Action
	}{
		"all":                       {0, 3, groups(3, 1), nil, []scheduler.Action{provision(3)}},
		"one more":                  {1, 2, groups(2, 1), nil, []scheduler.Action{provision(2)}},
		"as many":                   {2, 1, groups(2, 1), nil, nil},
		"nothing said":              {2, 1, nil, nil, nil},
		"fewer, but none goes back": {2, 1, groups(0, 1), nil, nil},
		"one goes back":             {2, 0, nil, []cluster.NodeID{"l1"}, []scheduler.Action{giveBack("l1")}},
		"one goes back, one comes":  {2, 1, groups(3, 1), []cluster.NodeID{"l0"}, []scheduler.Action{provision(3), giveBack("l0")}},
		"both kinds go back":        {2, 0, groups(2, 0), []cluster.NodeID{"l0", "l1"}, []scheduler.Action{giveBack("l0", "l1", "r")}},
	} {
		t.Run(name, func(t *testing.T) {
			all, told := lendable(t, c.lent, c.spare)
			p := &scripted{grants: make(map[job.ID]cluster.Placement), spoil: func(p *policy.Plan) (*policy.Plan, error) {
				p.Capacity, p.Return = c.want, c.back
				return p, nil
			}}
			s, err := scheduler.New(p, asPlanned{}, all, unprofiled())
			if err != nil {
				t.Fatal(err)
			}
			d := &bench{s, t, p, epoch}
			if snap := d.Snapshot(epoch); len(snap.Cluster.Nodes()) != 1 || len(snap.Loans) != 1 || snap.Loans[0].Nodes != 3 || snap.Loans[0].Spare != 0 {
				t.Errorf("at the start got nodes %v and loans %v, want the owned node and none spare of 3", snap.Cluster.Nodes(), snap.Loans)
			}
			d.step(told)
			snap, plan, acts := d.round() // without jobs
			if plan.Refused != "" {
				t.Fatal(plan.Refused)
			}
			if diff := cmp.Diff(told.Loans, snap.Loans); diff != "" {
				t.Errorf("loans shown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.acts, acts, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if len(c.back) > 0 && len(plan.Return) != len(c.back) {
				t.Errorf("the plan now returns %v, want %v: it is not the scheduler's", plan.Return, c.back)
			}
		})
	}
}

// A node goes back in the round in which its job is preempted, after it. A plan that keeps
// the job there is refused, and nothing goes back.
func TestScheduler_gives_back_what_it_vacates(t *testing.T) {
	all, told := lendable(t, 2, 0)
	p := &scripted{grants: map[job.ID]cluster.Placement{"j": on(share("l1", 4))}}
	s, err := scheduler.New(p, asPlanned{}, all, unprofiled())
	if err != nil {
		t.Fatal(err)
	}
	d := &bench{s, t, p, epoch}
	d.step(told)
	d.submit("j")
	d.round()
	p.spoil = func(p *policy.Plan) (*policy.Plan, error) {
		p.Return = []cluster.NodeID{"l1"}
		return p, nil
	}
	if _, plan, acts := d.round(); plan.Refused == "" || len(acts) > 0 {
		t.Errorf("got actions %v and %q, want the plan refused and none", acts, plan.Refused)
	}
	delete(p.grants, "j")
	_, plan, acts := d.round()
	want := []scheduler.Action{scheduler.Preempt{Job: "j"}, scheduler.Return{Nodes: []cluster.NodeID{"l1"}}}
	if diff := cmp.Diff(want, acts); diff != "" {
		t.Errorf("actions (-want +got), %q:\n%s", plan.Refused, diff)
	}
}

// noted is a placer that notes what it is shown.
type noted struct{ shown *policy.Snapshot }

func (n *noted) Place(_ context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	n.shown = s
	return p, nil
}

// The placer is shown neither the nodes that go back nor that a job is on them.
func TestScheduler_places_without_what_goes_back(t *testing.T) {
	all, told := lendable(t, 2, 0)
	p, placer := &scripted{grants: map[job.ID]cluster.Placement{"j": on(share("l1", 4))}}, &noted{}
	s, err := scheduler.New(p, placer, all, unprofiled())
	if err != nil {
		t.Fatal(err)
	}
	d := &bench{s, t, p, epoch}
	d.step(told)
	d.submit("j")
	d.round()
	p.spoil = func(p *policy.Plan) (*policy.Plan, error) {
		p.Return = []cluster.NodeID{"l1"}
		return p, nil
	}
	delete(p.grants, "j")
	d.round()
	_, there := placer.shown.Cluster.Index("l1")
	if j := placer.shown.Job("j"); there || j.Holding() || len(j.Placement) > 0 {
		t.Errorf("the placer is shown node l1: %v, and the job with %v", there, j.Placement)
	}
}
