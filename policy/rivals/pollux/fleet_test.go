package pollux

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// TestBisectAgainstAll compares with asking for every number: the closest, the smaller of
// two, by few questions.
func TestBisectAgainstAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 50).Draw(t, "values")
		slices.Sort(values)
		slices.Reverse(values)
		low, target, asked := rapid.IntRange(0, 5).Draw(t, "low"), rapid.Float64Range(0, 1).Draw(t, "target"), 0
		at := func(n int) float64 { return values[n-low] }
		got := bisect(low, low+len(values)-1, target, func(n int) float64 { asked++; return at(n) })
		want := nearest(low, low+len(values)-1, target, at)
		if at(got) != at(want) && math.Abs(at(got)-target) != math.Abs(at(want)-target) {
			t.Fatalf("%d with %v, want %d with %v", got, at(got), want, at(want))
		}
		if limit := 3 + math.Log2(float64(len(values))); float64(asked) > limit {
			t.Fatalf("%d numbers of %d asked for, want at most %v", asked, len(values), limit)
		}
	})
	if got := bisect(7, 3, 0.5, nil); got != 7 {
		t.Errorf("of no numbers from 7 it is %d, want 7", got)
	}
	if got := bisect(1, 2, 0.5, func(n int) float64 { return 1.25 - float64(n)/2 }); got != 1 {
		t.Errorf("of two that are as close %d, want the smaller", got)
	}
}

// nearest returns the number at which a function is closest to a target.
func nearest(low, high int, target float64, at func(int) float64) int {
	best := low
	for n := low; n <= high; n++ {
		if math.Abs(at(n)-target) < math.Abs(at(best)-target) {
			best = n
		}
	}
	return best
}

// TestClosestAgainstAllSizes compares the size that is found with those of a search on
// every size, where efficiency does not grow with nodes. Source: BOA §6.1, "Pollux with
// Autoscaling": "select that cluster size and job allocations whose cluster efficiency is
// closest to c".
func TestClosestAgainstAllSizes(t *testing.T) {
	draws.AtLeast(t, 60) // 4 of 5 are compared
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		s := &policy.Snapshot{Cluster: nodes(t, "v100:2"), Rentals: []cluster.Rental{{}}}
		s.Rentals[0].Node, s.Rentals[0].Most = s.Cluster.Nodes()[0], 5
		for i := range rapid.IntRange(1, 4).Draw(t, "jobs") {
			j, m := adaptive(fmt.Sprint(i)), &speeds{by: []float64{0}, apart: 1}
			for gain, k := 1.0, 0; k < 16; k++ {
				m.by = append(m.by, m.by[k]+gain)
				gain *= rapid.SampledFrom([]float64{1, 0.9, 0.5}).Draw(t, "less")
			}
			j.Submitted = s.Now.Add(-1e12)
			j.Perf = m
			s.Jobs = append(s.Jobs, j)
		}
		o := DefaultAutoscaleOptions()
		o.Target, o.Population, o.Generations, o.Patience = rapid.Float64Range(0.2, 0.9).Draw(t, "target"), 20, 30, 0
		a, err := NewAutoscaler(o)
		if err != nil {
			t.Fatal(err)
		}
		f, err := newRentedNodes(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, 6)
		for n := range values {
			v := f.view(n)
			plan := a.pollux.plan(t.Context(), v, a.pollux.last.probe(v.Cluster))
			values[n] = a.pollux.efficiency(v, plan)
		}
		if !slices.IsSortedFunc(values, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
			return
		}
		compared++
		at := func(n int) float64 { return values[n] }
		got, want := a.closest(t.Context(), f, 0, 5), nearest(0, 5, o.Target, at)
		if math.Abs(at(got)-o.Target) > math.Abs(at(want)-o.Target) {
			t.Fatalf("%d nodes of %v, want %d for %v", got, values, want, o.Target)
		}
	})
	if compared < 20 {
		t.Errorf("efficiency did not grow with nodes in %d worlds, want some", compared)
	}
}

// TestFewest counts nodes below which there are never fewer: those with jobs that nothing
// may be taken from.
func TestFewest(t *testing.T) {
	pinned := holding("pinned", 1)
	pinned.NonPreemptive = true
	pinned.Placement = append(pinned.Placement, cluster.Share{Node: "2", Resources: cluster.Resources{GPUs: 1}})
	all := slices.Clone(nodes(t, "v100:4", "v100:4", "v100:4", "v100:4").Nodes())
	for i := range all {
		all[i].Tenure = cluster.Rented
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Cluster: c, Jobs: []*policy.Job{pinned}, Rentals: []cluster.Rental{{Offer: cluster.Offer{Node: all[0], Most: 4}, Ready: 4}}}
	f, err := newRentedNodes(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	kept := f.view(2).Cluster.Nodes()
	if f.least != 2 || kept[0].ID != "1" || kept[1].ID != "2" {
		t.Errorf("at least %d, kept %v, want 2: those with the pinned job", f.least, kept)
	}
}

// TestOverOne has a job that is as fast as it has GPUs, by replicas of 4: it uses each as
// well as a job on one.
func TestOverOne(t *testing.T) {
	j := adaptive("a")
	j.Perf, j.GPUsPerReplica = typed{"v100": 3}, map[cluster.GPUType]int{"v100": 4}
	r := roundOf(t, nodes(t, "v100:8"), j)
	if got := r.seats[0].belief.overOne(j, cluster.Configuration{Nodes: 1, GPUs: 8, GPUType: "v100"}); got != 8 {
		t.Errorf("speedup on 8 GPUs is %v, want 8", got)
	}
}
