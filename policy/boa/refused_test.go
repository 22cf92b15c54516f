package boa_test

import (
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// Where spot nodes are refused, or all taken, on-demand ones of their kind are asked for.
func TestRefusedNodesComeFromElsewhere(t *testing.T) {
	for name, change := range map[string]func(*cluster.Rental){
		"refused": func(r *cluster.Rental) { r.Refused = true },
		"taken":   func(r *cluster.Rental) { r.Most = 1 },
	} {
		f := newRentedCluster(t, unlimited(t), 10, stats("a", 8))
		f.submit("j", "a")
		s := f.snapshot()
		spot := cluster.Rental{Offer: cluster.Offer{Group: "spot", Node: f.node(""), Most: 10}}
		spot.Node.Group, spot.Node.Price = "spot", 0.1
		change(&spot)
		s.Rentals = append([]cluster.Rental{spot}, s.Rentals...)
		plan, err := f.p.Plan(t.Context(), s)
		if err == nil {
			err = policy.Check(s, plan)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := plan.Capacity["spot"] + plan.Capacity["t4-4"]; got != 2 || plan.Capacity["t4-4"] == 0 {
			t.Errorf("%s: nodes wanted %v, want 2, of the other offer where spot has none", name, plan.Capacity)
		}
	}
}
