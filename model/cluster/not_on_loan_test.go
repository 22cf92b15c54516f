package cluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
)

func TestKept(t *testing.T) {
	node := func(id cluster.NodeID, kind cluster.GPUType, gpus int, tenure cluster.Tenure) cluster.Node {
		return cluster.Node{ID: id, GPUType: kind, Capacity: cluster.Resources{GPUs: gpus}, Tenure: tenure}
	}
	c, err := cluster.New([]cluster.Node{
		node("a", "v100", 4, cluster.Owned),
		node("b", "v100", 8, cluster.Loaned),
		node("c", "t4", 8, cluster.Loaned),
		node("d", "v100", 2, cluster.Rented),
	})
	if err != nil {
		t.Fatal(err)
	}
	own := c.Without(func(id cluster.NodeID) bool { return id == "b" || id == "c" })
	if diff := cmp.Diff(own.Types(), c.TypesNotOnLoan()); diff != "" || !c.Lends() {
		t.Errorf("lends %v, kept (-want +got):\n%s", c.Lends(), diff)
	}
	if diff := cmp.Diff(own.Types(), own.TypesNotOnLoan()); diff != "" || own.Lends() {
		t.Errorf("without them: lends %v, kept (-want +got):\n%s", own.Lends(), diff)
	}
}
