package scheduler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
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
	}{
		"more":                            {0, 0, 3, "", []scheduler.Action{provision(3)}},
		"more than are on their way":      {1, 1, 3, "", []scheduler.Action{provision(3)}},
		"as many":                         {1, 2, 3, "", nil},
		"nothing said":                    {1, 2, -1, "", nil},
		"fewer on their way":              {1, 2, 2, "", []scheduler.Action{provision(2)}},
		"fewer than are there":            {3, 0, 1, "", []scheduler.Action{giveBack("r2", "r1")}},
		"fewer than are there, some come": {2, 2, 1, "", []scheduler.Action{provision(2), giveBack("r1")}},
		"fewer, with a job on the last":   {3, 0, 1, "r2", []scheduler.Action{giveBack("r1", "r0")}},
		"none, with a job on one":         {2, 0, 0, "r0", []scheduler.Action{giveBack("r1")}},
		"none, with a job on all":         {1, 0, 0, "r0", nil},
	} {
		t.Run(name, func(t *testing.T) {
			all := rentable(t)
			p := &scripted{grants: make(map[job.ID]cluster.Placement), spoil: func(p *policy.Plan) (*policy.Plan, error) {
				if c.want >= 0 {
					p.Capacity = map[cluster.Group]int{"g": c.want}
				}
				return p, nil
			}}
			s, err := scheduler.New(p, asPlanned{}, all, unprofiled())
			if err != nil {
				t.Fatal(err)
			}
			d := &desk{s, t, p, epoch}
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
