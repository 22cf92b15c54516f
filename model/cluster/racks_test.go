package cluster_test

import (
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
)

func TestCluster_Racks(t *testing.T) {
	var nodes []cluster.Node
	for id, rack := range map[cluster.NodeID]string{"a1": "a", "a2": "a", "b1": "b", "z": ""} {
		nodes = append(nodes, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Rack: rack})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	for want, nodes := range map[int][][]cluster.NodeID{
		0: {nil, {"z"}, {"a1", "z"}, {"gone"}, {"a1", "gone"}},
		1: {{"a1"}, {"a1", "a2"}},
		2: {{"a1", "b1"}, {"a1", "a2", "b1"}},
	} {
		for _, on := range nodes {
			var p cluster.Placement
			for _, n := range on {
				p = append(p, cluster.Share{Node: n, Resources: cluster.Resources{GPUs: 1}})
			}
			if got := c.Racks(p); got != want {
				t.Errorf("%v: %d racks, want %d", on, got, want)
			}
		}
	}
}
