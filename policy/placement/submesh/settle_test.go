package submesh_test

import (
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/simulate/placementtest"
)

// TestPlaceSettlesCPUsAndMemory: on nodes that count them, jobs have what a
// fungible plan makes of their node, and in any other plan what it names; in the
// next round they keep the very placement.
func TestPlaceSettlesCPUsAndMemory(t *testing.T) {
	for _, kind := range placementtest.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			g := placementtest.NewGenerator(kind, 7)
			s := g.Snapshot(16)
			fungible, _ := placementtest.Pooled(s)
			rigid := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
			for i := range rigid.Jobs {
				rigid.Jobs[i].Allocation.Configuration = fungible.Jobs[i].Allocation.Configuration
			}
			policy.FillProportional(s, rigid)
			pl := submesh.New(submesh.DefaultOptions())
			for _, p := range []*policy.Plan{rigid, fungible} {
				if _, err := pl.Place(t.Context(), s, p); err != nil {
					t.Fatal(err)
				}
				if err := policy.CheckPlacement(s, p); err != nil {
					t.Fatal(err)
				}
			}
			low, high := placementtest.Value(s, rigid), placementtest.Value(s, fungible)
			if want := float64(len(s.Jobs)); low != want || high < want {
				t.Errorf("relative speeds add up to %v and %v, want %v and at least that", low, high, want)
			}
			if kind.Split[1] > 0 && high < low+1 {
				t.Errorf("relative speeds add up to %v with CPUs by need, %v without", high, low)
			}
			next := g.Next(s, fungible, 0)
			again, _ := placementtest.Pooled(next)
			if _, err := pl.Place(t.Context(), next, again); err != nil {
				t.Fatal(err)
			}
			for i := range again.Jobs {
				if &again.Jobs[i].Placement[0] != &fungible.Jobs[i].Placement[0] {
					t.Fatalf("job %d: moved from %v to %v", i, fungible.Jobs[i].Placement, again.Jobs[i].Placement)
				}
			}
		})
	}
}
