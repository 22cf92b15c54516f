package schedulertest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// forRent has an owned node and three that can be rented, of four GPUs each.
func forRent(t testing.TB) *cluster.Cluster {
	t.Helper()
	nodes := []cluster.Node{{ID: "n0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}}
	for i := range 3 {
		nodes = append(nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("r%d", i)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Tenure: cluster.Rented, Group: "spare",
		})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// letting is the toy that can rent.
func letting(t testing.TB) scheduler.Backend {
	w := toy(t).(*Toy)
	w.Let(forRent(t))
	return w
}

func TestToy_that_lets(t *testing.T) {
	RunRenting(t, letting, forRent(t), DriveRenting(forRent(t)))
	RunRepeatable(t, letting, DriveRenting(forRent(t)))
}

func TestToy_that_lets_is_audited(t *testing.T) {
	audit := Audit()
	if err := DriveRenting(forRent(t), audit)(t.Context(), letting(t)); err != nil {
		t.Fatal(err)
	}
	if err := audit.End(); err != nil {
		t.Error(err)
	}
}

// onNodes is a world that tells something else of its nodes; nil tells nothing.
func onNodes(change func(scheduler.NodesChanged) scheduler.Event) spoilt {
	return spoilt{next: func(s *spoilt, d time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
		n, ok := ev.(scheduler.NodesChanged)
		if !ok {
			return ev, err
		}
		if told := change(n); told != nil {
			return told, err
		}
		return s.Backend.Next(context.Background(), d)
	}}
}

// rentals changes the books of a world.
func rentals(change func(*cluster.Rental)) spoilt {
	return onNodes(func(n scheduler.NodesChanged) scheduler.Event {
		r := n.Rentals[0]
		change(&r)
		return scheduler.NodesChanged{Cluster: n.Cluster, Rentals: []cluster.Rental{r}}
	})
}

// Each seeded bug is caught by the rule that it breaks.
func TestRunRenting_catches(t *testing.T) {
	all := forRent(t)
	most := all.Held()
	for name, c := range map[string]struct {
		world spoilt
		want  string
	}{
		"books with a group less": {onNodes(func(n scheduler.NodesChanged) scheduler.Event {
			return scheduler.NodesChanged{Cluster: n.Cluster}
		}), "0 groups, want all 1"},
		"more nodes than are offered": {rentals(func(r *cluster.Rental) { r.Leaving += 4 }), "want at most 3"},
		"nodes that are not paid": {
			rentals(func(r *cluster.Rental) { r.Ready, r.Starting = 0, r.Ready+r.Starting }),
			"1 nodes are there and 0 of them paid",
		},
		"a world that does not answer": {onNodes(func(scheduler.NodesChanged) scheduler.Event { return nil }), "neither on their way nor refused"},
		"nodes that stay": {onNodes(func(n scheduler.NodesChanged) scheduler.Event {
			if len(n.Cluster.Nodes()) > len(most.Nodes()) {
				most = n.Cluster
			}
			return scheduler.NodesChanged{Cluster: most, Rentals: []cluster.Rental{{Offer: all.Offers()[0], Ready: 3}}}
		}), "given back, and there at the next round"},
		"nodes that never come": {onNodes(func(n scheduler.NodesChanged) scheduler.Event {
			r := n.Rentals[0]
			r.Ready, r.Starting, r.Refused = 0, 0, true
			return scheduler.NodesChanged{Cluster: all.Held(), Rentals: []cluster.Rental{r}}
		}), "nodes came: false"},
	} {
		t.Run(name, func(t *testing.T) {
			c.world.Backend = letting(t)
			err := Renting(t.Context(), &c.world, all, DriveRenting(all))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

func TestRunRenting_needs_a_policy_that_rents(t *testing.T) {
	err := Renting(t.Context(), letting(t), forRent(t), Drive(forRent(t)))
	if err == nil || err.Error() != "nodes came: false, and were given back: false; want both" {
		t.Errorf("got error %v", err)
	}
}

func TestRunRenting_catches_what_is_not_refused(t *testing.T) {
	w := spoilt{Backend: letting(t), do: func([]scheduler.Action) error { return nil }}
	err := fmt.Sprint(Unrentable(t.Context(), &w, forRent(t)))
	for _, want := range []string{"nobody-lets-this", "nobody-has-this", "names spare"} {
		if !strings.Contains(err, want) {
			t.Errorf("got error %s, want %q", err, want)
		}
	}
}

// A job on a node that has left is noticed before the next round.
func TestTenant_catches_jobs_on_nodes_that_are_not_there(t *testing.T) {
	w := &tenant{there: forRent(t).Held(), jobs: map[job.ID]cluster.Placement{"j": {{Node: "r0"}}}}
	if w.round(); len(w.errs) != 1 || w.errs[0].Error() != "job j: on node r0, which is gone" {
		t.Errorf("got %v", w.errs)
	}
}

func TestAudit_catches_wrong_orders(t *testing.T) {
	c := forRent(t)
	lent := []cluster.Loan{{Group: "lent", Nodes: 5, Lent: 1, Spare: 2}}
	snap := &policy.Snapshot{Cluster: c, Rentals: []cluster.Rental{{Offer: c.Offers()[0], Ready: 3}}, Loans: lent, Jobs: []*policy.Job{{Spec: &job.Spec{ID: "j"}}}}
	for want, act := range map[string]scheduler.Action{
		"group spare: 4 nodes asked for":                    scheduler.Provision{Group: "spare", Nodes: 4},
		"group x: 1 nodes asked for":                        scheduler.Provision{Group: "x", Nodes: 1},
		"group lent: 4 nodes asked for":                     scheduler.Provision{Group: "lent", Nodes: 4},
		"node n0: given back, want one that is rented or":   scheduler.Return{Nodes: []cluster.NodeID{"n0"}},
		"node r0: given back, want none that job j is on":   scheduler.Return{Nodes: []cluster.NodeID{"r0"}},
		"node gone: given back, want one that is rented or": scheduler.Return{Nodes: []cluster.NodeID{"gone"}},
	} {
		a := Audit()
		a.jobs["j"] = &audited{spec: &job.Spec{ID: "j"}, placement: cluster.Placement{{Node: "r0"}}}
		if a.rent(snap, []scheduler.Action{act}); len(a.errs) != 1 || !strings.Contains(a.errs[0].Error(), want) {
			t.Errorf("%+v: got %v, want %q", act, a.errs, want)
		}
	}
}
