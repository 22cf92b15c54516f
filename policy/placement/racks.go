package rack

import (
	"cmp"
	"context"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// A Placer implements placement.Placer. Its placements depend on the snapshot, the plan and what
// the other placer makes of them. It is not safe for concurrent use.
type Placer struct {
	other  placement.Placer
	known  *cluster.Cluster // of the last round
	levels *levels          // of it
}

// New returns a Placer that lets another one place a plan and then brings gangs into NVLink domains and racks.
func New(other placement.Placer) *Placer { return &Placer{other: other} }

// Place implements placement.Placer. Where no node has an NVLink domain or a rack, the plan is what the other
// placer makes of it. The only errors are those of the other.
func (pl *Placer) Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	if pl.known != s.Cluster {
		pl.known, pl.levels = s.Cluster, read(s.Cluster)
	}
	if len(pl.levels.all) == 0 {
		return pl.other.Place(ctx, s, p)
	}
	ordered := *s
	ordered.Cluster = pl.levels.cluster
	return pl.place(ctx, &ordered, p)
}

// place lets the other placer place a plan on nodes in the order of their racks and domains, and brings the
// gangs together that start.
func (pl *Placer) place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	given := make([]bool, len(p.Jobs))
	for i := range p.Jobs {
		given[i] = len(p.Jobs[i].Placement) > 0
	}
	p, err := pl.other.Place(ctx, s, p)
	if err != nil {
		return nil, err
	}
	if gangs := pl.levels.gangs(s, p, given); len(gangs) > 0 {
		newBoard(pl.levels, s, p, given).gather(gangs)
	}
	return p, nil
}

// levels are the nodes of a cluster in groups within groups. Nodes go by their places in Cluster.Nodes.
type levels struct {
	cluster *cluster.Cluster // ordered by rack and domain, if there are any
	all     []*level         // those that nodes name, the finest first: NVLink domains, racks
}

// A level is the nodes of a cluster in groups.
type level struct {
	of    []int32   // by node: its group; -1: none
	nodes [][]int32 // by group
}

// read returns the levels of a cluster, with groups in the order in which its nodes name them. Nodes of
// different GPU types may share one.
func read(c *cluster.Cluster) *levels {
	domains := indexed(c, func(n *cluster.Node) string { return n.NVLinkDomain })
	racks := indexed(c, func(n *cluster.Node) string { return n.Rack })
	l := &levels{cluster: c}
	if len(domains)+len(racks) == 2 {
		return l
	}
	l.cluster = c.Ordered(func(n *cluster.Node) int { return racks[n.Rack]*len(domains) + domains[n.NVLinkDomain] })
	if len(domains) > 1 {
		l.all = append(l.all, l.grouped(domains, func(n *cluster.Node) string { return n.NVLinkDomain }))
	}
	if len(racks) > 1 {
		l.all = append(l.all, l.grouped(racks, func(n *cluster.Node) string { return n.Rack }))
	}
	return l
}

// indexed numbers the names that nodes have, in their order; no name is the last.
func indexed(c *cluster.Cluster, name func(*cluster.Node) string) map[string]int {
	index := make(map[string]int)
	for at := range c.Nodes() {
		n := name(&c.Nodes()[at])
		if _, known := index[n]; !known && n != "" {
			index[n] = len(index)
		}
	}
	index[""] = len(index)
	return index
}

// grouped returns the level in which the nodes of one name are a group.
func (l *levels) grouped(index map[string]int, name func(*cluster.Node) string) *level {
	g := &level{of: make([]int32, len(l.cluster.Nodes())), nodes: make([][]int32, len(index)-1)}
	for at := range l.cluster.Nodes() {
		n := name(&l.cluster.Nodes()[at])
		if n == "" {
			g.of[at] = -1
			continue
		}
		k := index[n]
		g.of[at], g.nodes[k] = int32(k), append(g.nodes[k], int32(at))
	}
	return g
}

// apart reports whether the nodes of a placement are not all in one group of a level.
func (l *levels) apart(g *level, p cluster.Placement) bool {
	first := int32(-1)
	for k := range p {
		at, _ := l.cluster.Index(p[k].Node)
		switch group := g.of[at]; {
		case k == 0:
			first = group
		case group < 0 || group != first:
			return true
		}
	}
	return false
}

// gangs returns the jobs on several nodes that may move, those on most nodes first; none, if all that
// start are each in one group of the finest level.
func (l *levels) gangs(s *policy.Snapshot, p *policy.Plan, given []bool) (all []int32) {
	some := false // has to be brought together
	for i, j := range s.Jobs {
		d := &p.Jobs[i]
		if len(d.Placement) > 1 && movable(j, d, given[i]) {
			all = append(all, int32(i))
			some = some || starts(j, d) && l.apart(l.all[0], d.Placement)
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
