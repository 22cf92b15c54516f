package multifactor

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
)

// nodes are what is free of each node, now and later.
type nodes struct {
	cluster *cluster.Cluster
	all     []node
	byType  [][]int // nodes in their order, by type
	least   [][]int // by type, then GPUs: how many nodes have so many free now
	free    []room  // what a test believes of each
	able    []int
	ends    []release // of what runs, by time, if sorted
	sorted  bool
	edges   []time.Duration // of what is reserved, ascending
}

// A room is what a test believes that a node has free.
type room struct {
	cluster.Resources
	open, covers bool
}

// A node is what it has free, when more will be, and when it is reserved.
type node struct {
	id       cluster.NodeID
	t        int
	capacity cluster.Resources
	free     cluster.Resources
	ends     []release // of what runs
	reserved []reserved
}

// A release is what is given back, by time limits.
type release struct {
	in   time.Duration
	node int
	cluster.Resources
}

// reset makes all nodes free.
func (n *nodes) reset(c *cluster.Cluster) {
	if n.cluster != c {
		n.learn(c)
	}
	for t := range n.least {
		clear(n.least[t])
	}
	n.edges, n.sorted = n.edges[:0], false
	for i := range n.all {
		m := &n.all[i]
		m.free, m.ends, m.reserved = m.capacity, m.ends[:0], m.reserved[:0]
		n.least[m.t][m.free.GPUs]++
	}
	for _, of := range n.least {
		for g := len(of) - 2; g >= 0; g-- {
			of[g] += of[g+1]
		}
	}
}

// learn takes up the nodes of a cluster.
func (n *nodes) learn(c *cluster.Cluster) {
	types := c.Types()
	*n = nodes{cluster: c, byType: make([][]int, len(types)), least: make([][]int, len(types))}
	for t := range types {
		n.least[t] = make([]int, types[t].PerNode+1)
	}
	for i, m := range c.Nodes() {
		t := slices.IndexFunc(types, func(info cluster.TypeInfo) bool { return info.Type == m.GPUType })
		capacity := m.Capacity
		if !types[t].Counts() {
			capacity = cluster.Resources{GPUs: capacity.GPUs}
		}
		n.all = append(n.all, node{id: m.ID, t: t, capacity: capacity})
		n.byType[t] = append(n.byType[t], i)
	}
}

// stay leaves those who run on their nodes.
func (r *round) stay() {
	for i, j := range r.Snapshot.Jobs {
		d := &r.Plan().Jobs[i]
		switch {
		case d.Allocation.IsZero():
		case j.Holding() && d.Allocation.SameGPUs(&j.Allocation) && j.Placement != nil:
			d.Allocation, d.Placement = j.Allocation, j.Placement
		default:
			r.close(&d.Allocation)
		}
	}
}

// occupy takes from the nodes what jobs hold.
func (r *round) occupy() {
	for i, j := range r.Snapshot.Jobs {
		on := r.Plan().Jobs[i].Placement
		if len(on) == 0 {
			continue
		}
		until := max(time.Second, limit(j)-r.now.Sub(j.Since))
		for k := range on {
			r.nodes.take(&on[k], until)
		}
	}
}

// close leaves the nodes for an allocation to the placer: it is new, as that of a reservation of Oxgang's own, or its nodes are
// not known. No other job starts on nodes of its type in this round.
func (r *round) close(a *cluster.Allocation) {
	for t := range r.Types {
		r.closed[t] = r.closed[t] || a.Has(r.Types[t].Type)
	}
}

// take takes a share of a node until some time from now.
func (n *nodes) take(s *cluster.Share, until time.Duration) {
	if i, ok := n.cluster.Index(s.Node); ok {
		n.subtract(i, s.Resources, until)
	}
}

// subtract takes resources of a node until some time from now.
func (n *nodes) subtract(i int, what cluster.Resources, until time.Duration) {
	m := &n.all[i]
	if m.capacity.CPUs == 0 {
		what.CPUs, what.Memory = 0, 0
	}
	for g := m.free.GPUs; g > max(0, m.free.GPUs-what.GPUs); g-- {
		n.least[m.t][g]--
	}
	m.free = minus(m.free, what)
	m.ends = append(m.ends, release{until, i, what})
	if n.sorted { // while backfilling
		n.sortEnds()
	}
}

// minus returns what is left of resources.
func minus(all, taken cluster.Resources) cluster.Resources {
	return cluster.Resources{GPUs: all.GPUs - taken.GPUs, CPUs: all.CPUs - taken.CPUs, Memory: all.Memory - taken.Memory}
}

// slack is by how little CPUs may be too few: shares of them are added and subtracted.
const slack = 1e-6

// covers reports whether resources are enough.
func covers(free, each *cluster.Resources) bool {
	return free.GPUs >= each.GPUs && free.CPUs >= each.CPUs-slack && free.Memory >= each.Memory
}

// mayFit reports whether there are nodes enough with the GPUs that a want asks for, reserved or not.
func (n *nodes) mayFit(w *want) bool { return n.least[w.t][w.each.GPUs] >= w.nodes }

// never is later than all times that are reserved.
const never = 200 * 365 * 24 * time.Hour

// pick returns the nodes for a want that begins now; nil: there are too few.
func (n *nodes) pick(w *want) []int {
	n.free = append(n.free[:0], make([]room, len(n.all))...)
	enough := 0
	for _, i := range n.byType[w.t] {
		if m := &n.all[i]; covers(&m.free, &w.each) {
			n.free[i].covers, enough = true, enough+1
		}
	}
	if enough < w.nodes {
		return nil
	}
	return n.choose(w)
}

// choose returns the nodes for a want among those that cover it. Of the runs of neighbours it takes the shortest that is
// long enough, or else the longest ones. Source: Slurm's select/cons_tres, _eval_nodes_consec.
func (n *nodes) choose(w *want) []int {
	n.able = n.able[:0]
	for _, i := range n.byType[w.t] {
		if n.free[i].covers {
			n.able = append(n.able, i)
		}
	}
	runs := runsOf(n.able)
	slices.SortStableFunc(runs, func(a, b []int) int {
		longA, longB := len(a) >= w.nodes, len(b) >= w.nodes
		switch {
		case longA && longB:
			return cmp.Compare(len(a), len(b))
		case longA || longB:
			return cmp.Compare(len(b), len(a))
		}
		return cmp.Compare(len(b), len(a))
	})
	on := make([]int, 0, w.nodes)
	for _, run := range runs {
		on = append(on, run[:min(len(run), w.nodes-len(on))]...)
	}
	return on
}

// runsOf cuts ascending numbers where they do not follow each other.
func runsOf(able []int) [][]int {
	var runs [][]int
	from := 0
	for k := 1; k <= len(able); k++ {
		if k == len(able) || able[k] != able[k-1]+1 {
			runs = append(runs, able[from:k])
			from = k
		}
	}
	return runs
}

// place takes what is wanted of nodes, and returns the placement.
func (n *nodes) place(w *want, on []int, until time.Duration) cluster.Placement {
	p := make(cluster.Placement, len(on))
	for k, i := range on {
		what := w.each
		what.GPUs = w.share(k)
		p[k] = cluster.Share{Node: n.all[i].id, Resources: what}
		n.subtract(i, what, until)
	}
	p.Sort()
	return p
}
