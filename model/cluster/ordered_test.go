package cluster_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
)

// Nodes are in the order of their keys, those of equal keys as they were; a cluster in that order is returned itself.
func TestOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := map[cluster.NodeID]int{}
		var nodes []cluster.Node
		for i, k := range rapid.SliceOfN(rapid.IntRange(0, 3), 1, 12).Draw(t, "keys") {
			id := cluster.NodeID(rune('a' + i))
			keys[id] = k
			nodes = append(nodes, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 1}})
		}
		c, err := cluster.New(nodes)
		if err != nil {
			t.Fatal(err)
		}
		key := func(n *cluster.Node) int { return keys[n.ID] }
		want := slices.SortedStableFunc(slices.Values(nodes), func(a, b cluster.Node) int { return keys[a.ID] - keys[b.ID] })
		o := c.Ordered(key)
		for i := range want {
			if got := o.Nodes()[i].ID; got != want[i].ID {
				t.Fatalf("node %d is %s, want %s", i, got, want[i].ID)
			}
		}
		if again := o.Ordered(key); again != o {
			t.Error("a cluster in that order is another one")
		}
	})
}
