package pack_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/simulate/placementtest"
)

var snapshots = flag.Int("snapshots", 60, "random snapshots of each kind")

// TestGapToThePool: what nodes can really give is near to what a pool of all CPUs
// and memory could, the program of Synergy §4.1.1. The gap includes what no
// placement could reach: on servers of 500 GB, two jobs of 162.5 GB and five of 20
// leave 75 GB for one more of 62.5.
func TestGapToThePool(t *testing.T) {
	most := map[string]float64{ // mean gap in per cent: of whole jobs, of split ones
		"single, 20-70-10": 0.3, "single, 33-33-33": 2.3, "single, 50-0-50": 0.1,
		"multi, 20-70-10": 0.5, "multi, 33-33-33": 2, "multi, 50-0-50": 0.1,
	}
	for _, kind := range placementtest.Kinds() {
		gaps := make([]float64, 0, *snapshots)
		sum, split := 0.0, 0
		for seed := range *snapshots {
			s := placementtest.NewGenerator(kind, uint64(seed)).Snapshot(16)
			p, bound := placementtest.Pooled(s)
			p = place(t, s, p)
			if err := policy.CheckPlacement(s, p); err != nil {
				t.Fatal(err)
			}
			got := 0.0
			for i, j := range s.Jobs {
				v := placementtest.Relative(s, j, &p.Jobs[i])
				if len(p.Jobs[i].Placement) > 1 {
					v *= 1 - pack.DefaultOptions().Penalty
					split++
				}
				got += v
			}
			gaps = append(gaps, 100*(bound-got)/bound)
			sum += gaps[seed]
		}
		slices.Sort(gaps)
		n := len(gaps)
		t.Logf("%s: gap %% mean %.2f, median %.2f, p99 %.2f, worst %.2f; %.1f jobs split", kind.Name, sum/float64(n), gaps[n/2], gaps[n*99/100], gaps[n-1], float64(split)/float64(n))
		if sum/float64(n) > most[kind.Name] {
			t.Errorf("%s: mean gap %.2f %%, want at most %v", kind.Name, sum/float64(n), most[kind.Name])
		}
	}
}
