package cluster

import "testing"

func host(id NodeID, gpus int, cpus float64, memory int64) Node {
	return Node{ID: id, GPUType: "v100", Capacity: Resources{GPUs: gpus, CPUs: cpus, Memory: memory}}
}

// TestShare: nodes of one type that differ in CPUs per GPU have the least of them
// as their share, so that it can be had anywhere.
func TestShare(t *testing.T) {
	c, err := New([]Node{host("a", 8, 24, 500), host("b", 4, 32, 100)})
	if err != nil {
		t.Fatal(err)
	}
	info, _ := c.Type("v100")
	if want := (Resources{GPUs: 1, CPUs: 3, Memory: 25}); info.Share != want || info.CPUs != 56 || info.Memory != 600 {
		t.Errorf("share %+v of %g CPUs and %d bytes, want %+v of 56 and 600", info.Share, info.CPUs, info.Memory, want)
	}
	config := Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}
	if got, want := info.Proportional(config), (Allocation{Configuration: config, CPUs: 12, Memory: 100}); got != want {
		t.Errorf("share of 4 GPUs: %+v, want %+v", got, want)
	}
}

func TestShareOfNodesThatDoNotSay(t *testing.T) {
	c, err := New([]Node{host("a", 8, 24, 500), host("b", 8, 0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	info, _ := c.Type("v100")
	if got := info.Proportional(Configuration{GPUs: 4}); info.Counts() || got.CPUs != 0 || got.Memory != 0 {
		t.Errorf("share of 4 GPUs: %+v, want none: a node does not say what it has", got)
	}
}

func TestFewest(t *testing.T) {
	info := TypeInfo{Type: "a100", PerNode: 8}
	for gpus, nodes := range map[int]int{1: 1, 8: 1, 9: 2, 16: 2, 17: 3} {
		want := Configuration{Nodes: nodes, GPUs: gpus, GPUType: "a100"}
		if got := info.Fewest(gpus); got != want {
			t.Errorf("%d GPUs: %v, want %v", gpus, got, want)
		}
	}
}
