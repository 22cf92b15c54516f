package placement

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// Read loads the jobs of plan p. A job is Fixed if the plan chose its nodes, or if it is non-preemptive and unchanged.
func (st *Settler) Read(s *policy.Snapshot, p *policy.Plan) {
	if st.cluster != s.Cluster {
		st.cluster, st.nodes = s.Cluster, make([]node, len(s.Cluster.Nodes()))
	}
	st.matrices.begin(s.Cluster, len(s.Jobs))
	st.Jobs = slices.Grow(st.Jobs[:0], len(s.Jobs))[:len(s.Jobs)]
	types := s.Cluster.Types()
	for i, j := range s.Jobs {
		d, row := &p.Jobs[i], &st.Jobs[i]
		*row = Job{Slots: row.Slots[:0]}
		k := s.Cluster.TypeIndex(d.Allocation.GPUType)
		switch {
		case d.Allocation.GPUs == 0 || k < 0:
		case len(d.Placement) > 0:
			row.Fixed = d.Placement
		case j.NonPreemptive && d.Allocation == j.Allocation && present(s.Cluster, j.Placement):
			row.Fixed = j.Placement
		default:
			row.Cells, row.Wish, row.exact = st.matrices.choices(j, d, &types[k], p.Fungible)
		}
	}
}

func present(c *cluster.Cluster, p cluster.Placement) bool {
	return len(p) > 0 && !slices.ContainsFunc(p, func(s cluster.Share) bool {
		_, ok := c.Index(s.Node)
		return !ok
	})
}

// Follow sets the slots of all jobs that are not Fixed to their placements in plan p.
func (st *Settler) Follow(p *policy.Plan) {
	for i := range st.Jobs {
		row := &st.Jobs[i]
		row.Slots = row.Slots[:0]
		if len(row.Cells) == 0 {
			continue
		}
		for _, s := range p.Jobs[i].Placement {
			if n, ok := st.cluster.Index(s.Node); ok {
				row.Slots = append(row.Slots, Slot{n, s.GPUs})
			}
		}
	}
}

// Write stores the placements, and the chosen CPUs and memory, in plan p. p must be the plan that Read loaded last. If
// a placement did not change, p keeps its slice. A job without slots loses its allocation.
func (st *Settler) Write(s *policy.Snapshot, p *policy.Plan) {
	for i, j := range s.Jobs {
		row, d := &st.Jobs[i], &p.Jobs[i]
		switch {
		case d.Allocation.GPUs == 0:
		case len(row.Fixed) > 0:
			d.Placement = row.Fixed
		case len(row.Slots) == 0:
			*d = policy.Decision{Why: policy.Reason{Kind: policy.Evicted, Config: d.Allocation.Configuration}}
		default:
			st.write(j, row, d)
		}
	}
}

func (st *Settler) write(j *policy.Job, row *Job, d *policy.Decision) {
	c, a := &row.Cells[row.Cell], &d.Allocation
	if !row.exact {
		a.CPUs, a.Memory = float64(a.GPUs)*c.CPUs, int64(a.GPUs)*c.Memory
		st.explain(d, c)
	}
	switch {
	case row.exact && *a == j.Allocation && st.isAt(j.Placement, row.Slots):
		d.Placement = j.Placement
		return
	case len(row.Slots) == 1 && len(j.Placement) == 1 && j.Placement[0] == st.share(row.Slots[0], 0, a):
		d.Placement = j.Placement
		return
	}
	before := 0
	d.Placement = make(cluster.Placement, len(row.Slots))
	for k, s := range row.Slots {
		d.Placement[k] = st.share(s, before, a)
		before += s.GPUs
	}
	d.Placement.Sort()
	if d.Placement.Equal(j.Placement) {
		d.Placement = j.Placement
	}
}

func (st *Settler) explain(d *policy.Decision, c *Cell) {
	if d.Why.Kind != policy.AboveShare && d.Why.Kind != policy.BelowShare {
		return
	}
	t, _ := st.cluster.Type(d.Allocation.GPUType)
	switch {
	case c.CPUs > t.Share.CPUs || c.Memory > t.Share.Memory:
		d.Why.Kind, d.Why.Value = policy.AboveShare, c.Value
	case c.CPUs < t.Share.CPUs || c.Memory < t.Share.Memory:
		d.Why.Kind, d.Why.Value = policy.BelowShare, c.Value
	default:
		d.Why.Kind, d.Why.Value = policy.AsPlanned, 0
	}
}

// share returns the part of an allocation on one node. before is the number of GPUs on earlier nodes, so that
// the bytes of all shares add up.
func (st *Settler) share(s Slot, before int, a *cluster.Allocation) cluster.Share {
	r := cluster.Resources{GPUs: s.GPUs, CPUs: a.CPUs, Memory: a.Memory}
	if s.GPUs != a.GPUs {
		r.CPUs *= float64(s.GPUs) / float64(a.GPUs)
		r.Memory = first(a.Memory, before+s.GPUs, a.GPUs) - first(a.Memory, before, a.GPUs)
	}
	return cluster.Share{Node: st.cluster.Nodes()[s.Node].ID, Resources: r}
}

func first(all int64, g, n int) int64 {
	part, rest := all/int64(n), all%int64(n)
	return part*int64(g) + rest*int64(g)/int64(n)
}

func (st *Settler) isAt(p cluster.Placement, slots []Slot) bool {
	return len(p) == len(slots) && !slices.ContainsFunc(p, func(share cluster.Share) bool {
		n, ok := st.cluster.Index(share.Node)
		return !ok || !slices.Contains(slots, Slot{n, share.GPUs})
	})
}
