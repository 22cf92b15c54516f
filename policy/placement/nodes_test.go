package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy/placement"
)

// gb is one gigabyte.
const gb = 1_000_000_000

// serversOf returns v100 nodes n00, n01, ... of the given capacities.
func serversOf(t testing.TB, capacities ...cluster.Resources) *cluster.Cluster {
	t.Helper()
	var all []cluster.Node
	for i, r := range capacities {
		all = append(all, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%04d", i)), GPUType: "v100", Capacity: r})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// server is a server of the paper (§5.1).
var server = cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500 * gb}

func per(cpus float64, gigabytes int64) cluster.Resources {
	return cluster.Resources{CPUs: cpus, Memory: gigabytes * gb}
}

func TestBestFit(t *testing.T) {
	taken := func(gpus int, cpus float64, gigabytes int64) cluster.Resources {
		return cluster.Resources{GPUs: gpus, CPUs: cpus, Memory: gigabytes * gb}
	}
	tests := []struct {
		name  string
		taken []cluster.Resources // by node
		gpus  int
		each  int // GPUs of a worker
		per   cluster.Resources
		stay  []placement.Slot
		want  []placement.Slot // nil: it does not fit
	}{
		{name: "the fewest free GPUs", taken: []cluster.Resources{taken(1, 1, 1), taken(5, 1, 1), taken(4, 1, 1)}, gpus: 2, per: per(3, 60), want: []placement.Slot{{1, 2}}},
		{name: "then the least CPUs", taken: []cluster.Resources{taken(4, 1, 1), taken(4, 8, 1), taken(4, 2, 9)}, gpus: 2, per: per(3, 60), want: []placement.Slot{{1, 2}}},
		{name: "then the least memory", taken: []cluster.Resources{taken(4, 1, 1), taken(4, 1, 3), taken(4, 1, 2)}, gpus: 2, per: per(3, 60), want: []placement.Slot{{1, 2}}},
		{name: "room on all dimensions", taken: []cluster.Resources{taken(6, 20, 1), taken(5, 1, 400), taken(0, 0, 0)}, gpus: 2, per: per(3, 60), want: []placement.Slot{{2, 2}}},
		{name: "a node in use before an idle one", taken: []cluster.Resources{taken(0, 0, 0), taken(1, 1, 1)}, gpus: 1, per: per(1, 1), want: []placement.Slot{{1, 1}}},
		{name: "it stays", taken: []cluster.Resources{taken(6, 1, 1), taken(0, 0, 0)}, gpus: 2, per: per(3, 60), stay: []placement.Slot{{1, 2}}, want: []placement.Slot{{1, 2}}},
		{name: "it stays split", taken: []cluster.Resources{taken(6, 1, 1), taken(0, 0, 0)}, gpus: 2, per: per(3, 60), stay: []placement.Slot{{0, 1}, {1, 1}}, want: []placement.Slot{{0, 1}, {1, 1}}},
		{name: "no room to stay", taken: []cluster.Resources{taken(6, 23, 1), taken(0, 0, 0)}, gpus: 2, per: per(3, 60), stay: []placement.Slot{{0, 2}}, want: []placement.Slot{{1, 2}}},
		{name: "it held another number of GPUs", taken: []cluster.Resources{taken(6, 1, 1), taken(0, 0, 0)}, gpus: 2, per: per(3, 60), stay: []placement.Slot{{1, 1}}, want: []placement.Slot{{0, 2}}},
		{name: "the fewest nodes, the last by best fit", taken: []cluster.Resources{taken(4, 4, 4), taken(2, 2, 2), taken(6, 6, 6), taken(5, 5, 5)}, gpus: 8, per: per(1, 1), want: []placement.Slot{{1, 6}, {2, 2}}},
		{name: "workers stay whole", taken: []cluster.Resources{taken(2, 2, 2), taken(1, 1, 1), taken(4, 4, 4)}, gpus: 12, each: 4, per: per(1, 1), want: []placement.Slot{{0, 4}, {1, 4}, {2, 4}}},
		{name: "workers stay whole, or are nowhere", taken: []cluster.Resources{taken(3, 3, 3), taken(5, 5, 5)}, gpus: 8, each: 4, per: per(1, 1)},
		{name: "workers stay whole where CPUs are few", taken: []cluster.Resources{taken(2, 18, 2), taken(2, 18, 2)}, gpus: 4, each: 2, per: per(2, 1), want: []placement.Slot{{0, 2}, {1, 2}}},
		{name: "split for CPUs, in proportion", taken: []cluster.Resources{taken(2, 12, 2), taken(2, 12, 2)}, gpus: 4, per: per(6, 10), want: []placement.Slot{{0, 2}, {1, 2}}},
		{name: "no room", taken: []cluster.Resources{taken(7, 7, 7), taken(7, 23, 2)}, gpus: 2, per: per(3, 60)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := placement.NewNodes(serversOf(t, slices.Repeat([]cluster.Resources{server}, len(test.taken))...))
			for i, r := range test.taken {
				n.Take(i, r)
			}
			got, ok := n.BestFit("v100", test.gpus, test.each, test.per, test.stay)
			if ok != (test.want != nil) {
				t.Fatalf("fits: %v, want %v", ok, !ok)
			}
			if diff := cmp.Diff(test.want, got); ok && diff != "" {
				t.Errorf("slots (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBestFitGPUsLooksAtGPUsAlone(t *testing.T) {
	n := placement.NewNodes(serversOf(t, server, server))
	n.Take(0, cluster.Resources{GPUs: 6, CPUs: 30, Memory: 900 * gb})
	got, ok := n.BestFitGPUs("v100", 2, 1, nil)
	if diff := cmp.Diff([]placement.Slot{{Node: 0, GPUs: 2}}, got); !ok || diff != "" {
		t.Errorf("fits %v, slots (-want +got):\n%s", ok, diff)
	}
	if n.Fits(got, cluster.Resources{CPUs: 3}) || !n.FitsGPUs(got) {
		t.Error("fits with 3 CPUs a GPU, or not without")
	}
	if _, ok := n.BestFitGPUs("a100", 1, 1, nil); ok {
		t.Error("found GPUs of a type that is not there")
	}
}

// TestBestFitAgainstSearch compares with a look at every node and every subset.
func TestBestFitAgainstSearch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var capacities []cluster.Resources
		for range rapid.IntRange(1, 5).Draw(rt, "nodes") {
			g := rapid.SampledFrom([]int{2, 4, 8}).Draw(rt, "size")
			capacities = append(capacities, cluster.Resources{GPUs: g, CPUs: float64(3 * g), Memory: int64(g) * 60 * gb})
		}
		n := placement.NewNodes(serversOf(t, capacities...))
		for i, c := range capacities {
			g := rapid.IntRange(0, c.GPUs).Draw(rt, "taken")
			n.Take(i, cluster.Resources{GPUs: g, CPUs: float64(rapid.IntRange(0, int(c.CPUs)).Draw(rt, "cpus") * min(g, 1)), Memory: 0})
		}
		gpus, want := rapid.IntRange(1, 12).Draw(rt, "gpus"), per(float64(rapid.IntRange(1, 6).Draw(rt, "per")), 50)
		got, ok := n.BestFit("v100", gpus, 1, want, nil)
		if least := fewest(n, len(capacities), gpus, want); ok != (least > 0) || ok && len(got) != least {
			rt.Fatalf("%v on %d nodes, want %d", ok, len(got), least)
		}
		if !ok {
			return
		}
		sum := 0
		for _, s := range got {
			sum += s.GPUs
		}
		if sum != gpus || !n.Fits(got, want) {
			rt.Fatalf("%v has %d GPUs, fits: %v", got, sum, n.Fits(got, want))
		}
		for i := range capacities {
			if len(got) == 1 && n.Fits([]placement.Slot{{Node: i, GPUs: gpus}}, want) && n.Free(i).GPUs < n.Free(got[0].Node).GPUs {
				rt.Fatalf("node %d has room and less free than %v", i, got)
			}
		}
	})
}

// fewest returns the size of the smallest set of nodes with room; 0 if none has.
func fewest(n *placement.Nodes, nodes, gpus int, per cluster.Resources) int {
	best := 0
	for mask := range 1 << nodes {
		room, size := 0, 0
		for i := range nodes {
			if mask>>i&1 == 0 {
				continue
			}
			size++
			for g := 1; n.Fits([]placement.Slot{{Node: i, GPUs: g}}, per); g++ {
				room++
			}
		}
		if room >= gpus && (best == 0 || size < best) {
			best = size
		}
	}
	return best
}

func TestTakeAllAndGiveAllLeaveNothingBehind(t *testing.T) {
	n := placement.NewNodes(serversOf(t, server, server))
	want := []cluster.Resources{n.Free(0), n.Free(1)}
	slots := []placement.Slot{{Node: 0, GPUs: 3}, {Node: 1, GPUs: 8}}
	n.TakeAll(slots, per(0.1, 7))
	if f := n.Free(0); f.GPUs != 5 || f.Memory != 479*gb {
		t.Errorf("free %+v after three GPUs with 7 GB each were taken", f)
	}
	n.GiveAll(slots, per(0.1, 7))
	if diff := cmp.Diff(want, []cluster.Resources{n.Free(0), n.Free(1)}); diff != "" {
		t.Errorf("free (-want +got):\n%s", diff)
	}
}

func TestPlacementNamesSlots(t *testing.T) {
	n := placement.NewNodes(serversOf(t, server, server))
	got := n.Placement([]placement.Slot{{Node: 1, GPUs: 1}, {Node: 0, GPUs: 2}}, per(6, 150))
	want := cluster.Placement{ // the example of §4.2, with three GPUs
		{Node: "n0000", Resources: cluster.Resources{GPUs: 2, CPUs: 12, Memory: 300 * gb}},
		{Node: "n0001", Resources: cluster.Resources{GPUs: 1, CPUs: 6, Memory: 150 * gb}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("placement (-want +got):\n%s", diff)
	}
	slots, ok := n.Slots(nil, got)
	if diff := cmp.Diff([]placement.Slot{{Node: 0, GPUs: 2}, {Node: 1, GPUs: 1}}, slots); !ok || diff != "" {
		t.Errorf("slots %v (-want +got):\n%s", ok, diff)
	}
	if _, ok := n.Slots(nil, cluster.Placement{{Node: "gone"}}); ok {
		t.Error("found a node that is not there")
	}
}
