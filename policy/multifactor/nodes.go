package multifactor

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// nodes are what is free of each node, now and later. Between rounds they stay as they are; see occupy.
type nodes struct {
	cluster *cluster.Cluster
	all     []node
	byType  [][]int // nodes in their order, by type
	least   [][]int // by type, then GPUs: how many nodes have so many free now
	free    []room  // what a test believes of each
	able    []int
	began   time.Time       // when the cluster was first seen
	now     time.Duration   // since then
	ends    []release       // of what jobs hold, by time
	holders []holder        // jobs that held something when the nodes were last occupied, in the order of the snapshot
	spare   []holder        // room for the next
	given   []release       // to jobs that began after that
	edges   []time.Duration // of what is reserved, ascending
}

// A room is what a test believes that a node has free.
type room struct {
	cluster.Resources
	open, covers bool
}

// A node is what it has free, and when it is reserved.
type node struct {
	id       cluster.NodeID
	t        int
	capacity cluster.Resources
	free     cluster.Resources
	holds    int // how many releases are to come
	reserved []reserved
}

// A release is what is given back of a node, by time limits.
type release struct {
	at   time.Duration // since nodes.began
	node int
	cluster.Resources
}

// byTime orders releases.
func byTime(a, b release) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) }

// overdue is how soon a job is expected to end whose time limit is over.
const overdue = time.Second

// in returns how long from now a release is expected.
func (n *nodes) in(e *release) time.Duration { return max(overdue, e.at-n.now) }

// begin begins a round: nothing is reserved, and what was given in the round before is given back.
func (n *nodes) begin(c *cluster.Cluster, now time.Time) {
	if n.cluster != c {
		n.learn(c, now)
	}
	n.now = now.Sub(n.began)
	if len(n.edges) > 0 {
		for i := range n.all {
			n.all[i].reserved = n.all[i].reserved[:0]
		}
	}
	for i := range n.given {
		n.giveBack(&n.given[i])
	}
	n.edges, n.given = n.edges[:0], n.given[:0]
}

// learn takes up the nodes of a cluster, all of them free.
func (n *nodes) learn(c *cluster.Cluster, now time.Time) {
	types := c.Types()
	*n = nodes{cluster: c, began: now, byType: make([][]int, len(types)), least: make([][]int, len(types))}
	for t := range types {
		n.least[t] = make([]int, types[t].PerNode+1)
	}
	for i, m := range c.Nodes() {
		t := slices.IndexFunc(types, func(info cluster.TypeInfo) bool { return info.Type == m.GPUType })
		capacity := m.Capacity
		if !types[t].Counts() {
			capacity = cluster.Resources{GPUs: capacity.GPUs}
		}
		n.all = append(n.all, node{id: m.ID, t: t, capacity: capacity, free: capacity})
		n.byType[t] = append(n.byType[t], i)
		for g := range capacity.GPUs + 1 {
			n.least[t][g]++
		}
	}
}

// take takes resources of a node until a time, and returns their release.
func (n *nodes) take(i int, what cluster.Resources, until time.Duration) release {
	m := &n.all[i]
	if m.capacity.CPUs == 0 {
		what.CPUs, what.Memory = 0, 0
	}
	e := release{until, i, what}
	at, _ := slices.BinarySearchFunc(n.ends, e, byTime)
	n.ends = slices.Insert(n.ends, at, e)
	m.holds++
	n.leave(m, minus(m.free, what))
	return e
}

// giveBack undoes what take did, as it returned it.
func (n *nodes) giveBack(e *release) {
	at, _ := slices.BinarySearchFunc(n.ends, *e, byTime)
	for n.ends[at].Resources != e.Resources { // another release of the same node, at the same time
		at++
	}
	n.ends = slices.Delete(n.ends, at, at+1)
	m := &n.all[e.node]
	if m.holds--; m.holds == 0 {
		n.leave(m, m.capacity) // exactly, whatever CPUs were added and subtracted
		return
	}
	n.leave(m, minus(m.free, cluster.Resources{GPUs: -e.GPUs, CPUs: -e.CPUs, Memory: -e.Memory}))
}

// leave sets what is free of a node.
func (n *nodes) leave(m *node, free cluster.Resources) {
	for g := m.free.GPUs; g > max(0, free.GPUs); g-- {
		n.least[m.t][g]--
	}
	for g := max(0, m.free.GPUs) + 1; g <= free.GPUs; g++ {
		n.least[m.t][g]++
	}
	m.free = free
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

// place takes what is wanted of nodes for so long, and returns the placement.
func (n *nodes) place(w *want, on []int, lasts time.Duration) cluster.Placement {
	p := make(cluster.Placement, len(on))
	for k, i := range on {
		what := w.share(k)
		p[k] = cluster.Share{Node: n.all[i].id, Resources: what}
		n.given = append(n.given, n.take(i, what, n.now+lasts))
	}
	p.Sort()
	return p
}
