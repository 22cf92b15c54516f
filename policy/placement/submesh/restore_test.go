package submesh_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
)

// A job that is granted other GPUs, for which there is no place, keeps those that it holds, unless somebody
// else was placed on them.
func TestPlaceLeavesAJobThatFindsNoOtherPlaceWhereItIs(t *testing.T) {
	rows := []row{
		{held: "a2", nodes: 1, gpus: 4},
		{held: "a1", nodes: 1, gpus: 1, set: nonPreemptive},
		{held: "b3", nodes: 1, gpus: 3, set: nonPreemptive},
	}
	for name, test := range map[string]struct {
		more []row
		want policy.Decision
	}{
		"its place is free": {want: policy.Decision{
			Allocation: cluster.Allocation{Configuration: config(1, 2)}, Placement: parse("a2"),
			Why: policy.Reason{Kind: policy.KeptNoPlace, Config: config(1, 4)},
		}},
		"another is placed there": {more: []row{{nodes: 1, gpus: 2}}, want: policy.Decision{
			Why: policy.Reason{Kind: policy.Evicted, Config: config(1, 4)},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := round(nodes(t, 4, 4), append(rows, test.more...))
			if _, err := submesh.New(submesh.DefaultOptions()).Place(t.Context(), s, p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, p.Jobs[0]); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNobodyIsEvictedFromFreeGPUs: whatever a plan grants, no job loses GPUs that nobody gets, if it was granted
// as many or more; who keeps what it had holds just that, and no GPU is given twice.
func TestNobodyIsEvictedFromFreeGPUs(t *testing.T) {
	kept := 0
	draws.AtLeast(t, 2000) // one input in fifteen has a job that keeps what it had
	rapid.Check(t, func(rt *rapid.T) {
		s, p := drawn(t, rt)
		if _, err := submesh.New(submesh.Options{Split: rapid.Bool().Draw(rt, "split")}).Place(t.Context(), s, p); err != nil {
			rt.Fatal(err)
		}
		if err := policy.CheckPlacement(s, p); err != nil {
			rt.Fatal(err)
		}
		free := unused(s, p)
		for i, j := range s.Jobs {
			d := &p.Jobs[i]
			switch {
			case d.Why.Kind == policy.KeptNoPlace:
				if kept++; d.Allocation.Configuration != j.Allocation.Configuration || text(d.Placement) != text(j.Placement) {
					rt.Fatalf("job %d: keeps %v, want %v", i, d.Placement, j.Placement)
				}
			case d.Why.Kind == policy.Evicted && j.Holding() && j.Allocation.GPUs <= d.Why.Config.GPUs && room(free, j.Placement):
				rt.Fatalf("job %d: lost %v, which is free: %v", i, j.Placement, p.Jobs)
			}
		}
	})
	if kept == 0 {
		t.Error("no job kept what it had, want some: nothing was tested")
	}
}

// drawn returns jobs that hold GPUs of a few nodes, and a plan that grants them others, within capacity.
func drawn(t *testing.T, rt *rapid.T) (*policy.Snapshot, *policy.Plan) {
	sizes := rapid.SliceOfN(rapid.SampledFrom([]int{4, 4, 6, 8}), 2, 4).Draw(rt, "nodes")
	c, total := nodes(t, sizes...), 0
	var rows []row
	for i, size := range sizes {
		for total += size; size > 0 && rapid.IntRange(0, 4).Draw(rt, "idle") > 0; {
			g := rapid.IntRange(1, size).Draw(rt, "held")
			r := row{held: string(rune('a'+i)) + string(rune('0'+g)), nodes: 1, gpus: g}
			if rapid.IntRange(0, 2).Draw(rt, "pinned") == 0 {
				r.set = nonPreemptive
			}
			rows, size, total = append(rows, r), size-g, total-g
		}
	}
	for i := range rows { // what is free is granted besides
		if rows[i].set == nil && total > 0 {
			more := rapid.IntRange(0, total).Draw(rt, "more")
			rows[i].gpus, total = rows[i].gpus+more, total-more
		}
	}
	return round(c, rows)
}

func unused(s *policy.Snapshot, p *policy.Plan) map[cluster.NodeID]int {
	free := make(map[cluster.NodeID]int)
	for _, n := range s.Cluster.Nodes() {
		free[n.ID] = n.Capacity.GPUs
	}
	for i := range p.Jobs {
		for _, share := range p.Jobs[i].Placement {
			free[share.Node] -= share.GPUs
		}
	}
	return free
}

func room(free map[cluster.NodeID]int, p cluster.Placement) bool {
	for _, share := range p {
		if free[share.Node] < share.GPUs {
			return false
		}
	}
	return true
}

// TestPlaceSharesCPUsByWhatAJobKeeps: a node's CPUs are shared out by the GPU type on which a job stays, not by the
// one that it was granted: there it would have twice as many.
func TestPlaceSharesCPUsByWhatAJobKeeps(t *testing.T) {
	c, err := cluster.New([]cluster.Node{
		{ID: "a", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4, CPUs: 16, Memory: 16 << 30}},
		{ID: "b", GPUType: "v100", Capacity: cluster.Resources{GPUs: 4, CPUs: 32, Memory: 32 << 30}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, p := round(c, []row{
		{held: "a2", nodes: 1, gpus: 2},
		{held: "a2", nodes: 1, gpus: 2},
		{held: "b1", nodes: 1, gpus: 1, set: nonPreemptive},
	})
	for i, cpus := range []float64{8, 8, 8} {
		j, d := s.Jobs[i], &p.Jobs[i]
		j.Allocation.CPUs, j.Allocation.Memory = cpus, int64(cpus)<<30
		j.Placement[0].CPUs, j.Placement[0].Memory = cpus, int64(cpus)<<30
		d.Allocation = j.Allocation
	}
	s.Jobs[2].Allocation.GPUType, p.Jobs[2].Allocation.GPUType = "v100", "v100"
	p.Jobs[0].Allocation = cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}, CPUs: 32, Memory: 32 << 30}
	p.Fungible = true
	if _, err := submesh.New(submesh.DefaultOptions()).Place(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	if err := policy.CheckPlacement(s, p); err != nil {
		t.Fatal(err)
	}
	if d := p.Jobs[0]; d.Why.Kind != policy.KeptNoPlace || !d.Placement.Equal(s.Jobs[0].Placement) {
		t.Errorf("decision %+v, want what it has, 8 CPUs among them", d)
	}
}
