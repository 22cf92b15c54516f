package oxgang

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/boa"
	"github.com/oxgang/oxgang/policy/policytest"
)

func renting(budget float64) Options {
	o, rent := DefaultOptions(), boa.DefaultOptions()
	rent.Budget = budget
	o.Rent = &rent
	return o
}

func TestConformance_renting(t *testing.T) {
	for name, budget := range map[string]float64{"without limit": 0, "within a budget": 6} {
		t.Run(name, func(t *testing.T) {
			policytest.Run(t, func() policy.Policy {
				p, err := New(renting(budget))
				if err != nil {
					t.Fatal(err)
				}
				return p
			})
		})
	}
}

// rentable returns a world of one-GPU nodes for rent, of which so many of four are there.
func rentable(t *testing.T, budget float64, ready int) *small {
	t.Helper()
	w := newSmall(t, renting(budget), 4, 1)
	nodes := append([]cluster.Node{}, w.s.Cluster.Nodes()...)
	for i := range nodes {
		nodes[i].Tenure, nodes[i].Group = cluster.Rented, "rent"
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	w.s.Rentals = c.Rentals()
	w.s.Rentals[0].Ready = ready
	w.s.Cluster = c.Without(func(id cluster.NodeID) bool { i, _ := c.Index(id); return i >= ready })
	return w
}

// Nodes are rented for the jobs that there are, and those that are more go back, idle ones first.
func TestPlan_rents(t *testing.T) {
	w := rentable(t, 0, 0)
	w.submit("a", 1, time.Hour)
	w.submit("b", 1, time.Hour)
	if plan := w.plan(); plan.Capacity["rent"] != 2 || len(plan.Return) != 0 {
		t.Errorf("%d nodes are wanted and %v go back, want 2 and none", plan.Capacity["rent"], plan.Return)
	}
	w = rentable(t, 0, 4)
	w.submit("a", 1, time.Hour)
	w.runs(0, "a100", "a100-2")
	plan := w.plan()
	if plan.Capacity["rent"] != 1 || len(plan.Return) != 3 || plan.Jobs[0].Allocation.IsZero() || plan.Jobs[0].Why.Kind == policy.Reclaimed {
		t.Errorf("%+v: want one node, and the job to stay", plan)
	}
	for _, id := range plan.Return {
		if id == "a100-2" {
			t.Error("the node of the job goes back")
		}
	}
}

// Without a setting nothing is rented, and within a budget it is package boa that decides.
func TestPlan_rents_within_a_budget(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	if traits := w.p.Traits(); traits.Rents || traits.Classes {
		t.Errorf("%+v without a budget", traits)
	}
	w = rentable(t, 2, 1)
	if traits := w.p.Traits(); !traits.Rents || !traits.Classes {
		t.Errorf("%+v with a budget", traits)
	}
	alone, err := boa.New(*w.p.o.Rent)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []job.ID{"a", "b", "c"} {
		w.submit(id, 1, time.Hour)
	}
	want, err := alone.Plan(t.Context(), w.s)
	if err != nil {
		t.Fatal(err)
	}
	got := w.plan()
	for i := range want.Jobs {
		if got.Jobs[i].Allocation != want.Jobs[i].Allocation || got.Jobs[i].Why != want.Jobs[i].Why {
			t.Errorf("job %d: %+v, want %+v", i, got.Jobs[i], want.Jobs[i])
		}
	}
	if got.Capacity["rent"] != want.Capacity["rent"] {
		t.Errorf("%d nodes are wanted, want %d", got.Capacity["rent"], want.Capacity["rent"])
	}
}
