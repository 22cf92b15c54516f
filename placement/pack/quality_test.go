package pack_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/oxgang/oxgang/placement/pack"
	"github.com/oxgang/oxgang/placement/placementtest"
	"github.com/oxgang/oxgang/policy"
)

func TestQuality(t *testing.T) {
	count := 50
	if n, err := strconv.Atoi(os.Getenv("SNAPSHOTS")); err == nil {
		count = n
	}
	penalty, _ := strconv.ParseFloat(os.Getenv("PENALTY"), 64)
	for _, kind := range placementtest.Kinds() {
		var gaps []float64
		for seed := range count {
			g := placementtest.NewGenerator(kind, uint64(seed))
			s := g.Snapshot(16)
			p, bound := placementtest.Pooled(s)
			pl, _ := pack.New(pack.Options{Penalty: penalty})
			if _, err := pl.Place(t.Context(), s, p); err != nil {
				t.Fatal(err)
			}
			if err := policy.CheckPlacement(s, p); err != nil {
				t.Fatal(err)
			}
			got := placementtest.Value(s, p)
			gaps = append(gaps, 100*(bound-got)/bound)
		}
		slices.Sort(gaps)
		sum := 0.0
		for _, x := range gaps {
			sum += x
		}
		fmt.Printf("%s: mean %.2f median %.2f p90 %.2f p99 %.2f worst %.2f\n", kind.Name, sum/float64(count), gaps[count/2], gaps[count*9/10], gaps[count*99/100], gaps[count-1])
	}
}
