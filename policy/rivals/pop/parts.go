package pop

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

type parts struct {
	o        Options
	order    []int // to break ties
	cluster  *cluster.Cluster
	types    []cluster.TypeInfo
	node     map[cluster.NodeID]int
	job      map[job.ID]int
	next     map[job.ID]int // while jobs are dealt
	rooms    []room
	whole    room
	joinedTo []int // the part it is joined to this round, or itself
}

type room struct {
	nodes, gpus, perNode []int
	host, held           []cluster.Resources // capacity and claims of CPUs and memory
	hostUnknown          []bool
	load                 float64
}

func newRoom(types int) room {
	return room{
		nodes: make([]int, types), gpus: make([]int, types), perNode: make([]int, types),
		host: make([]cluster.Resources, types), held: make([]cluster.Resources, types), hostUnknown: make([]bool, types),
	}
}

func newParts(o Options) parts {
	return parts{
		o: o, order: rng.Shuffled(o.Parts, o.Seed), rooms: make([]room, o.Parts), joinedTo: make([]int, o.Parts),
		node: map[cluster.NodeID]int{}, job: map[job.ID]int{}, next: map[job.ID]int{},
	}
}

func (p *parts) dealNodes(c *cluster.Cluster) {
	if c == p.cluster {
		p.measure()
		return
	}
	p.cluster, p.types = c, c.Types()
	kept := make(map[cluster.NodeID]int, len(c.Nodes()))
	for _, n := range c.Nodes() {
		if part, ok := p.node[n.ID]; ok {
			kept[n.ID] = part
		}
	}
	p.node = kept
	p.measure()
	for _, i := range p.newNodes() {
		n := &c.Nodes()[i]
		t := p.typeIndex(n.GPUType)
		best := p.order[0]
		for _, part := range p.order[1:] {
			if p.lighter(&p.rooms[part], &p.rooms[best], t) {
				best = part
			}
		}
		p.node[n.ID] = best
		p.rooms[best].take(n, t)
	}
}

func (p *parts) newNodes() []int {
	nodes := p.cluster.Nodes()
	order := rng.Shuffled(len(nodes), p.o.Seed)
	if p.o.Split == Balanced {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(nodes[b].Capacity.GPUs, nodes[a].Capacity.GPUs) })
	}
	return slices.DeleteFunc(order, func(i int) bool {
		_, has := p.node[nodes[i].ID]
		return has
	})
}

func (p *parts) lighter(a, b *room, t int) bool {
	if p.o.Split == Balanced {
		return cmp.Or(cmp.Compare(a.gpus[t], b.gpus[t]), cmp.Compare(sum(a.gpus), sum(b.gpus))) < 0
	}
	return a.nodes[t] < b.nodes[t]
}

func sum(of []int) int {
	total := 0
	for _, n := range of {
		total += n
	}
	return total
}

func (p *parts) measure() {
	for i := range p.rooms {
		p.rooms[i], p.joinedTo[i] = newRoom(len(p.types)), i
	}
	p.whole = newRoom(len(p.types))
	for i := range p.cluster.Nodes() {
		n := &p.cluster.Nodes()[i]
		t := p.typeIndex(n.GPUType)
		p.whole.take(n, t)
		if part, ok := p.node[n.ID]; ok {
			p.rooms[part].take(n, t)
		}
	}
}

func (r *room) take(n *cluster.Node, t int) {
	r.nodes[t]++
	r.gpus[t] += n.Capacity.GPUs
	r.perNode[t] = max(r.perNode[t], n.Capacity.GPUs)
	r.host[t].CPUs += n.Capacity.CPUs
	r.host[t].Memory += n.Capacity.Memory
	r.hostUnknown[t] = r.hostUnknown[t] || n.Capacity.CPUs == 0
}

func (p *parts) typeIndex(t cluster.GPUType) int {
	return slices.IndexFunc(p.types, func(info cluster.TypeInfo) bool { return info.Type == t })
}

func (p *parts) joined(part int) int {
	for p.joinedTo[part] != part {
		part = p.joinedTo[part]
	}
	return part
}

func (p *parts) unite(a, b int) int {
	a, b = min(a, b), max(a, b)
	p.joinedTo[b] = a
	to, from := &p.rooms[a], &p.rooms[b]
	for t := range to.gpus {
		to.nodes[t] += from.nodes[t]
		to.gpus[t] += from.gpus[t]
		to.perNode[t] = max(to.perNode[t], from.perNode[t])
		to.host[t].CPUs += from.host[t].CPUs
		to.host[t].Memory += from.host[t].Memory
		to.hostUnknown[t] = to.hostUnknown[t] || from.hostUnknown[t]
		to.hold(t, &cluster.Allocation{Configuration: cluster.Configuration{GPUs: from.held[t].GPUs}, CPUs: from.held[t].CPUs, Memory: from.held[t].Memory})
	}
	to.load += from.load
	return a
}

func (p *parts) dealJobs(s *policy.Snapshot) {
	clear(p.next)
	for _, j := range s.Jobs {
		if part, ok := p.job[j.ID]; ok {
			p.rooms[part].load += p.weight(j)
		}
	}
	for turn := range turns {
		for _, j := range s.Jobs {
			if c := claimOf(j); c.turn == turn {
				p.next[j.ID] = p.place(j, c)
			}
		}
	}
	p.job, p.next = p.next, p.job
}

func (p *parts) weight(j *policy.Job) float64 {
	if p.o.Split == Balanced {
		return float64(max(1, j.GPUs, j.Allocation.GPUs))
	}
	return 1
}

func (p *parts) place(j *policy.Job, c claim) int {
	fits := func(r *room) bool { return p.roomFor(r, j, c) }
	need := func(r *room) bool { return p.meets(r, j) }
	was, known := p.job[j.ID]
	part := p.lastOrBest(was, known, fits)
	if part < 0 && !c.firm() { // do its fewest fit?
		part = p.lastOrBest(was, known, need)
	}
	if part < 0 {
		if part = was; !known || sum(p.rooms[p.joined(was)].gpus) == 0 {
			part = max(0, p.best(func(*room) bool { return true }))
		}
		if c.firm() {
			p.join(part, fits)
		} else {
			p.join(part, need)
		}
	}
	if r := &p.rooms[p.joined(part)]; !known || p.joined(part) != p.joined(was) {
		r.load += p.weight(j)
		if known {
			p.rooms[p.joined(was)].load -= p.weight(j)
		}
	}
	if t := p.typeIndex(c.GPUType); t >= 0 && fits(&p.rooms[p.joined(part)]) {
		p.rooms[p.joined(part)].hold(t, &c.Allocation)
		if c.firm() {
			p.whole.hold(t, &c.Allocation)
		}
	}
	return part
}

func (p *parts) lastOrBest(was int, known bool, do func(r *room) bool) int {
	if known && do(&p.rooms[p.joined(was)]) {
		return was
	}
	return p.best(do)
}

func (p *parts) best(do func(r *room) bool) int {
	best, least := -1, 0.0
	for _, part := range p.order {
		r := &p.rooms[p.joined(part)]
		gpus := sum(r.gpus)
		if gpus == 0 || !do(r) {
			continue
		}
		if load := r.load / float64(gpus); best < 0 || load < least {
			best, least = part, load
		}
	}
	return best
}

func (p *parts) join(part int, enough func(r *room) bool) {
	if !enough(&p.whole) {
		return
	}
	for at := p.joined(part); !enough(&p.rooms[at]); {
		other := p.best(func(r *room) bool { return r != &p.rooms[at] })
		if other < 0 {
			return
		}
		at = p.unite(at, p.joined(other))
	}
}
