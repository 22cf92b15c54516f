package multifactor

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

type nodes struct {
	cluster *cluster.Cluster
	all     []node
	byType  [][]int
	least   [][]int // by type and GPUs: nodes with at least this many free GPUs
	free    []room
	able    []int
	began   time.Time       // first sight of the cluster
	now     time.Duration   // since then
	ends    []release       // by time
	holders []holder        // as of the last occupy, in snapshot order
	spare   []holder        // reused memory
	given   []release       // to jobs started after that
	edges   []time.Duration // of reservations, ascending
}

type room struct {
	cluster.Resources
	open, covers bool
}

type node struct {
	id       cluster.NodeID
	t        int
	capacity cluster.Resources
	free     cluster.Resources
	holds    int // number of its releases
	reserved []reserved
}

type release struct {
	at   time.Duration
	node int
	cluster.Resources
}

func byTime(a, b release) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) }

const overdue = time.Second

func (n *nodes) in(e *release) time.Duration { return max(overdue, e.at-n.now) }

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

func (n *nodes) giveBack(e *release) {
	at, _ := slices.BinarySearchFunc(n.ends, *e, byTime)
	for n.ends[at].Resources != e.Resources { // another release of the node at this time
		at++
	}
	n.ends = slices.Delete(n.ends, at, at+1)
	m := &n.all[e.node]
	if m.holds--; m.holds == 0 {
		n.leave(m, m.capacity) // exact, without rounding of CPUs
		return
	}
	n.leave(m, minus(m.free, cluster.Resources{GPUs: -e.GPUs, CPUs: -e.CPUs, Memory: -e.Memory}))
}

func (n *nodes) leave(m *node, free cluster.Resources) {
	for g := m.free.GPUs; g > max(0, free.GPUs); g-- {
		n.least[m.t][g]--
	}
	for g := max(0, m.free.GPUs) + 1; g <= free.GPUs; g++ {
		n.least[m.t][g]++
	}
	m.free = free
}

func minus(all, taken cluster.Resources) cluster.Resources {
	return cluster.Resources{GPUs: all.GPUs - taken.GPUs, CPUs: all.CPUs - taken.CPUs, Memory: all.Memory - taken.Memory}
}

const slack = 1e-6

func covers(free, each *cluster.Resources) bool {
	return free.GPUs >= each.GPUs && free.CPUs >= each.CPUs-slack && free.Memory >= each.Memory
}

func (n *nodes) mayFit(w *want) bool { return n.least[w.t][w.each.GPUs] >= w.nodes }

const never = 200 * 365 * 24 * time.Hour

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

// choose returns nodes that cover a want: the first nodes of the shortest sufficient run of
// neighbours, or else the longest runs. Source: Slurm's select/cons_tres, _eval_nodes_consec.
func (n *nodes) choose(w *want) []int {
	n.able = n.able[:0]
	for _, i := range n.byType[w.t] {
		if n.free[i].covers {
			n.able = append(n.able, i)
		}
	}
	runs := runsOf(n.able)
	slices.SortStableFunc(runs, func(a, b []int) int {
		if len(a) >= w.nodes && len(b) >= w.nodes {
			return cmp.Compare(len(a), len(b))
		}
		return cmp.Compare(len(b), len(a))
	})
	on := make([]int, 0, w.nodes)
	for _, run := range runs {
		on = append(on, run[:min(len(run), w.nodes-len(on))]...)
	}
	return on
}

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

type holder struct {
	job *policy.Job
	on  []release
}

const searchWindow = 16

func (r *round) occupy() {
	n := r.nodes
	n.begin(r.Snapshot.Cluster, r.now)
	old, next := n.holders, n.spare[:0]
	for i, j := range r.Snapshot.Jobs {
		if len(r.Plan().Jobs[i].Placement) == 0 {
			continue
		}
		for k := range old[:min(searchWindow, len(old))] {
			if old[k].job == j {
				n.dismiss(old[:k])
				next, old = append(next, old[k]), old[k+1:]
				break
			}
		}
		if len(next) == 0 || next[len(next)-1].job != j {
			next = append(next, holder{job: j})
		}
	}
	n.dismiss(old)
	for k := range next {
		if next[k].on == nil {
			next[k].on = n.held(next[k].job)
		}
	}
	n.spare, n.holders = n.holders, next
}

func (n *nodes) dismiss(gone []holder) {
	for i := range gone {
		for k := range gone[i].on {
			n.giveBack(&gone[i].on[k])
		}
	}
}

func (n *nodes) held(j *policy.Job) []release {
	until := j.Since.Sub(n.began) + limit(j)
	on := make([]release, 0, len(j.Placement))
	for k := range j.Placement {
		s := &j.Placement[k]
		if i, ok := n.cluster.Index(s.Node); ok {
			on = append(on, n.take(i, s.Resources, until))
		}
	}
	return on
}
