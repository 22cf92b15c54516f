package pollux

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
)

// TestMemoryFollowsNodes has nodes leave and come back: what was on those that stay is
// still known, by job and part of a node.
func TestMemoryFollowsNodes(t *testing.T) {
	all := nodes(t, "a:4", "a:8", "a:4")
	without := func(gone cluster.NodeID) *cluster.Cluster {
		return all.Without(func(id cluster.NodeID) bool { return id == gone })
	}
	m := new(memory).on(all)
	m.rows, m.matrix = []job.ID{"x", "y"}, [][]int{{1, 2, 3, 4, 5, 6, 7, 8}}
	m.granted["x"] = []int{1, 2, 3, 4}
	for _, test := range []struct {
		name            string
		is              *cluster.Cluster
		matrix, granted []int
	}{
		{"the same", all, []int{1, 2, 3, 4, 5, 6, 7, 8}, []int{1, 2, 3, 4}},
		{"the first leaves", without("0"), []int{2, 3, 4, 6, 7, 8}, []int{2, 3, 4}},
		{"and comes back, and the last leaves", without("2"), []int{0, 2, 3, 0, 6, 7}, []int{0, 2, 3}},
		{"the parts are of other sizes", nodes(t, "a:2", "a:8"), []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []int{0, 0, 0, 0, 0}},
	} {
		if m = m.on(test.is); m.on(test.is) != m {
			t.Errorf("%s: the memory of a cluster is not that of the same", test.name)
		}
		if diff := cmp.Diff(test.matrix, m.matrix[0]); diff != "" {
			t.Errorf("%s: matrix (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.granted, m.granted["x"]); diff != "" {
			t.Errorf("%s: granted (-want +got):\n%s", test.name, diff)
		}
	}
	none := m.on(nodes(t))
	if none.matrix != nil || none.rows != nil {
		t.Errorf("without nodes: %v of %v, want nothing", none.matrix, none.rows)
	}
	if again := none.on(all); again.matrix != nil || len(again.slots) != 4 {
		t.Errorf("with nodes again: %v on %d virtual nodes, want nothing on 4", again.matrix, len(again.slots))
	}
}

// TestTornJobMoves has a job that holds GPUs of a node that it cannot keep: it restarts,
// even if it keeps the others.
func TestTornJobMoves(t *testing.T) {
	for _, gone := range []bool{false, true} {
		j := holding("a", 4)
		j.Placement = cluster.Placement{{Node: "0", Resources: cluster.Resources{GPUs: 2}}, {Node: "1", Resources: cluster.Resources{GPUs: 2}}}
		c := nodes(t, "v100:4", "v100:4").Without(func(id cluster.NodeID) bool { return gone && id == "0" })
		r := roundOf(t, c, j)
		nodes, gpus, moved := r.shape(r.seats[0], r.seats[0].base)
		if want := len(c.Nodes()); nodes != want || gpus != 2*want || moved != gone {
			t.Errorf("gone: %t: base of %d GPUs on %d nodes, moved: %t; want 2 GPUs on each that is there", gone, gpus, nodes, moved)
		}
	}
}
