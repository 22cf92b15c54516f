package pollux

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
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

// TestSettleDown has a job that holds GPUs, in a matrix in which it has as many elsewhere
// and another job starts on some of its own.
func TestSettleDown(t *testing.T) {
	for _, test := range []struct {
		name          string
		holds         [4]int
		moved, starts []int
		stays, shifts []int // wanted
	}{
		{"the other shifts", [4]int{4}, []int{0, 0, 4, 0}, []int{2, 0, 0, 0}, []int{4, 0, 0, 0}, []int{0, 2, 0, 0}},
		{"the other has room beside it", [4]int{2}, []int{0, 0, 2, 0}, []int{2, 0, 0, 0}, []int{2, 0, 0, 0}, []int{2, 0, 0, 0}},
		{"both are distributed", [4]int{2, 2}, []int{0, 0, 2, 2}, []int{1, 1, 0, 0}, []int{0, 0, 2, 2}, []int{1, 1, 0, 0}},
		{"the other is distributed", [4]int{4}, []int{0, 4, 0, 0}, []int{3, 0, 4, 3}, []int{0, 4, 0, 0}, []int{3, 0, 4, 3}},
		{"it has more than before", [4]int{2}, []int{0, 0, 3, 0}, []int{2, 0, 0, 0}, []int{0, 0, 3, 0}, []int{2, 0, 0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := adaptive("a"), adaptive("b")
			a.Phase, a.Submitted = job.Running, a.Submitted.Add(-1)
			for k, gpus := range test.holds {
				if gpus > 0 {
					a.Placement = append(a.Placement, cluster.Share{Node: cluster.NodeID("0123"[k : k+1]), Resources: cluster.Resources{GPUs: gpus}})
				}
			}
			a.Allocation.Configuration = cluster.Configuration{Nodes: len(a.Placement), GPUs: a.Placement.GPUs(), GPUType: "v100"}
			r := roundOf(t, nodes(t, "v100:4", "v100:4", "v100:4", "v100:4"), a, b)
			at := 0
			if r.seats[0].job != a {
				at = 1
			}
			x, want := make([]int, 8), make([]int, 8)
			copy(x[4*at:], test.moved)
			copy(x[4-4*at:], test.starts)
			copy(want[4*at:], test.stays)
			copy(want[4-4*at:], test.shifts)
			same := slices.Clone(x)
			if (settler{r}).settleDown(x); !cmp.Equal(same, x) {
				t.Errorf("on the nodes of the last round %v, want %v", x, same)
			}
			r.m.changed = true
			r.seats[at].partial = true // what is left of it may be too few where it is
			if (settler{r}).settleDown(x); !cmp.Equal(same, x) {
				t.Errorf("of a partial gang %v, want %v", x, same)
			}
			r.seats[at].partial = false
			settler{r}.settleDown(x)
			if diff := cmp.Diff(want, x); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
