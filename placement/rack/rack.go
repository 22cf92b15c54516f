package rack

import (
	"cmp"
	"context"
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
)

// A Placer implements placement.Placer. Its placements depend on the snapshot, the plan and what
// the other placer makes of them. It is not safe for concurrent use.
type Placer struct {
	other placement.Placer
	known *cluster.Cluster // of the last round
	racks *racks           // of it
}

// New returns a Placer that lets another one place a plan and then brings gangs into racks.
func New(other placement.Placer) *Placer { return &Placer{other: other} }

// Place implements placement.Placer. Where no node has a rack, the plan is what the other placer
// makes of it. The only errors are those of the other.
func (pl *Placer) Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	if pl.known != s.Cluster {
		pl.known, pl.racks = s.Cluster, read(s.Cluster)
	}
	if len(pl.racks.nodes) == 0 {
		return pl.other.Place(ctx, s, p)
	}
	ordered := *s
	ordered.Cluster = pl.racks.cluster
	return pl.place(ctx, &ordered, p)
}

// place lets the other placer place a plan on nodes in the order of their racks, and brings the gangs
// together that start.
func (pl *Placer) place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	given := make([]bool, len(p.Jobs))
	for i := range p.Jobs {
		given[i] = len(p.Jobs[i].Placement) > 0
	}
	p, err := pl.other.Place(ctx, s, p)
	if err != nil {
		return nil, err
	}
	if gangs := pl.racks.gangs(s, p, given); len(gangs) > 0 {
		newBoard(pl.racks, s, p, given).gather(gangs)
	}
	return p, nil
}

// racks are the nodes of a cluster by rack. Nodes go by their places in Cluster.Nodes.
type racks struct {
	cluster *cluster.Cluster // ordered by rack, if there are any
	of      []int32          // by node: its rack; -1: none
	nodes   [][]int32        // by rack
}

// read returns the racks of a cluster, in the order in which its nodes name them; none, if no node
// names one. Nodes of different GPU types may share one.
func read(c *cluster.Cluster) *racks {
	index := make(map[string]int)
	for _, n := range c.Nodes() {
		if _, known := index[n.Rack]; !known && n.Rack != "" {
			index[n.Rack] = len(index)
		}
	}
	r := &racks{cluster: c, of: make([]int32, len(c.Nodes())), nodes: make([][]int32, len(index))}
	if len(index) == 0 {
		return r
	}
	index[""] = len(index)
	r.cluster = c.Ordered(func(n *cluster.Node) int { return index[n.Rack] })
	for at, n := range r.cluster.Nodes() {
		k := index[n.Rack]
		if n.Rack == "" {
			r.of[at] = -1
			continue
		}
		r.of[at], r.nodes[k] = int32(k), append(r.nodes[k], int32(at))
	}
	return r
}

// apart reports whether the nodes of a placement are not all in one rack.
func (r *racks) apart(p cluster.Placement) bool {
	first := int32(-1)
	for k := range p {
		at, _ := r.cluster.Index(p[k].Node)
		switch rack := r.of[at]; {
		case k == 0:
			first = rack
		case rack < 0 || rack != first:
			return true
		}
	}
	return false
}

// gangs returns the jobs on several nodes that may move, those on most nodes first; none, if all that
// start are each in one rack.
func (r *racks) gangs(s *policy.Snapshot, p *policy.Plan, given []bool) (all []int32) {
	some := false // has to be brought together
	for i, j := range s.Jobs {
		d := &p.Jobs[i]
		if len(d.Placement) > 1 && movable(j, d, given[i]) {
			all = append(all, int32(i))
			some = some || starts(j, d) && r.apart(d.Placement)
		}
	}
	if !some {
		return nil
	}
	slices.SortStableFunc(all, func(a, b int32) int {
		return cmp.Compare(len(p.Jobs[b].Placement), len(p.Jobs[a].Placement))
	})
	return all
}
