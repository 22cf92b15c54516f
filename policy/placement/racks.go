package placement

import (
	"cmp"
	"context"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Racks is a Placer that tries to place each gang, a job on several nodes, within one NVLink domain or at least one
// rack, where the network is faster. Another placer places the plan first; Racks then exchanges nodes. It is not safe
// for concurrent use.
//
// Two nodes can be exchanged if their GPU type, GPU memory, capacity, group and tenure are equal. All jobs of each node
// then move to the other node, so every job keeps the same number of nodes and the same share of each.
//
//  1. Gangs that start in this round and are spread have their turn, the largest first.
//  2. For each domain, Racks looks for the exchanges that bring the whole gang there and restart jobs with the fewest
//     GPUs. It takes the cheapest domain, among equals the one with the fewest idle nodes.
//  3. If more GPUs would restart than the gang has, or no domain is large enough, Racks tries racks. If that fails too,
//     the gang stays.
//
// A gang can displace jobs on fewer nodes, and starting jobs that are already spread over several racks. A displaced
// gang has a turn only if it is on fewer nodes. Each gang has at most one turn, so the method ends. A job is never
// displaced if the policy placed it, or if it is non-preemptive, has no checkpoints, is restoring one, holds a
// reservation, or changes size while it trains.
//
// The other placer sees the nodes ordered by rack and domain, so that nodes in sequence are often in one rack.
//
// Cost: linear in the jobs if no starting gang is spread. Otherwise each such gang adds the nodes of its GPU type and
// their jobs. Racks ignores how much slower a class of jobs is in several racks, because using it did not help
// (docs/adr/0059-what-several-racks-cost-is-learned.md).
type Racks struct {
	other  Placer
	known  *cluster.Cluster
	levels *levels
}

// NewRacks returns a Racks that improves the placements of the placer other.
func NewRacks(other Placer) *Racks { return &Racks{other: other} }

// Place implements Placer. If no node states a domain or a rack, it returns the placements of the other
// placer.
func (pl *Racks) Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	if pl.known != s.Cluster {
		pl.known, pl.levels = s.Cluster, newLevels(s.Cluster)
	}
	if len(pl.levels.all) == 0 {
		return pl.other.Place(ctx, s, p)
	}
	ordered := *s
	ordered.Cluster = pl.levels.cluster
	return pl.place(ctx, &ordered, p)
}

func (pl *Racks) place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
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

type levels struct {
	cluster *cluster.Cluster // nodes ordered by rack and domain
	all     []*level         // finest first: NVLink domains, racks; without a level that no node names
}

type level struct {
	of    []int32 // by node: its group, or -1
	nodes [][]int32
}

func newLevels(c *cluster.Cluster) *levels {
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

func (l *levels) gangs(s *policy.Snapshot, p *policy.Plan, given []bool) (all []int32) {
	spread := false
	for i, j := range s.Jobs {
		d := &p.Jobs[i]
		if len(d.Placement) > 1 && movable(j, d, given[i]) {
			all = append(all, int32(i))
			spread = spread || starts(j, d) && l.apart(l.all[0], d.Placement)
		}
	}
	if !spread {
		return nil
	}
	slices.SortStableFunc(all, func(a, b int32) int {
		return cmp.Compare(len(p.Jobs[b].Placement), len(p.Jobs[a].Placement))
	})
	return all
}

func starts(j *policy.Job, d *policy.Decision) bool { return !d.Placement.SameGPUs(j.Placement) }

func movable(j *policy.Job, d *policy.Decision, given bool) bool {
	switch {
	case given || len(j.Parts) > 0 || j.NonPreemptive && j.Holding():
		return false
	case starts(j, d):
		return !j.Resizes || d.Placement.Common(j.Placement) == 0
	}
	return j.Phase == job.Running && !j.NoCheckpoint && d.Why.Kind != policy.Reserved
}
