package pack

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// Options configure a Placer.
type Options struct {
	// Penalty is the fraction of its speed, 0 to 1, that a job is assumed to lose on several nodes. With 1,
	// a job that fits on one node is never split. Default 0.1. Source: Synergy §6, "Tradeoff between
	// consolidation and allocation".
	Penalty float64
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options { return Options{Penalty: 0.1} }

func (o Options) validate() error {
	if !(o.Penalty >= 0 && o.Penalty <= 1) {
		return fmt.Errorf("pack: penalty %v, want 0 to 1", o.Penalty)
	}
	return nil
}

// A Placer chooses nodes whose free GPUs, CPUs and memory suffice (placement.Placer). Its placements depend only on the
// snapshot and the plan.
type Placer struct {
	o       Options
	settler placement.Settler
	wish    *placement.Nodes // free resources if every job gets its Job.Wish
	least   *placement.Nodes // free resources if every job gets its first cell, the smallest

	// Of the round being placed:
	s       *policy.Snapshot
	p       *policy.Plan
	held    [][]placement.Slot // by job: GPUs that it holds and may keep
	order   []int
	demands []cluster.Resources
	modests []cluster.Resources
	tried   [3]layout
	mending mending
	naming  naming
}

// New returns a Placer, or the error of o.Validate.
func New(o Options) (*Placer, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	pl := &Placer{o: o}
	pl.settler.Penalty = o.Penalty
	return pl, nil
}

// Place implements placement.Placer. It returns an error, and leaves the plan unchanged, if a placement that the
// policy chose is not free or the cluster lacks a GPU type.
func (pl *Placer) Place(_ context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	placement.Confine(s, p)
	pl.s, pl.p = s, p
	defer func() { pl.s, pl.p = nil, nil }()
	if pl.wish == nil || pl.wish.Cluster() != s.Cluster {
		pl.wish, pl.least = placement.NewNodes(s.Cluster), placement.NewNodes(s.Cluster)
	}
	pl.settler.Read(s, p)
	pl.locate()
	if err := pl.check(); err != nil {
		return nil, err
	}
	best := pl.best()
	for i := range pl.settler.Jobs {
		j := &pl.settler.Jobs[i]
		j.Slots, j.Cell = append(j.Slots[:0], best.slots[i]...), best.cells[i]
	}
	pl.settler.Write(s, p)
	return p, nil
}

func (pl *Placer) locate() {
	for len(pl.held) < len(pl.s.Jobs) {
		pl.held = append(pl.held, nil)
	}
	pl.demands = slices.Grow(pl.demands[:0], len(pl.s.Jobs))[:len(pl.s.Jobs)]
	pl.modests = slices.Grow(pl.modests[:0], len(pl.s.Jobs))[:len(pl.s.Jobs)]
	pl.order = pl.order[:0]
	for i, j := range pl.s.Jobs {
		pl.held[i] = pl.held[i][:0]
		if len(pl.settler.Jobs[i].Cells) == 0 {
			continue
		}
		pl.order = append(pl.order, i)
		row := &pl.settler.Jobs[i]
		pl.demands[i], pl.modests[i] = row.Cells[row.Wish].Per(), row.Cells[0].Per()
		if d := &pl.p.Jobs[i]; d.Allocation.SameGPUs(&j.Allocation) {
			var ok bool
			if pl.held[i], ok = pl.wish.Slots(pl.held[i], j.Placement); !ok {
				pl.held[i] = pl.held[i][:0] // a node has left the cluster
			}
		}
	}
	pl.sort()
}

func (pl *Placer) check() error {
	pl.wish.Reset()
	for i := range pl.settler.Jobs {
		j, d := &pl.settler.Jobs[i], &pl.p.Jobs[i]
		if d.Allocation.GPUs == 0 {
			continue
		}
		if _, ok := pl.s.Cluster.Type(d.Allocation.GPUType); !ok {
			return fmt.Errorf("pack: job %s: GPU type %q is not in the cluster", pl.s.Jobs[i].ID, d.Allocation.GPUType)
		}
		for _, share := range j.Fixed {
			n, ok := pl.s.Cluster.Index(share.Node)
			if !ok || share.GPUs < 1 || share.GPUs > pl.wish.Free(n).GPUs || !d.Allocation.Has(pl.s.Cluster.Nodes()[n].GPUType) {
				return fmt.Errorf("pack: job %s: the placement %v chosen by the policy is not free", pl.s.Jobs[i].ID, j.Fixed)
			}
			pl.wish.Take(n, share.Resources)
		}
	}
	return nil
}

func (pl *Placer) worker(i int) int { return max(1, pl.s.Jobs[i].WorkerGPUs) }

func (pl *Placer) gpus(i int) (int, cluster.GPUType) {
	a := &pl.p.Jobs[i].Allocation
	return a.GPUs, a.GPUType
}

type naming struct {
	count map[[2]int]int
	pairs []pair
	to    []int  // by node of the layout: its new node; -1: open
	used  []bool // by node: some node of the layout becomes it
}

type pair struct{ from, to, gpus int }

// rename exchanges the names of alike nodes so that many jobs are where they were, greedily by shared GPUs.
func (m *naming) rename(pl *Placer, l *layout) {
	m.countPairs(pl, l)
	nodes := pl.s.Cluster.Nodes()
	m.to, m.used = slices.Grow(m.to[:0], len(nodes))[:len(nodes)], slices.Grow(m.used[:0], len(nodes))[:len(nodes)]
	for n := range nodes {
		m.to[n], m.used[n] = -1, false
	}
	for i := range pl.settler.Jobs { // nodes of fixed jobs keep their names
		for _, share := range pl.settler.Jobs[i].Fixed {
			n, _ := pl.s.Cluster.Index(share.Node)
			m.to[n], m.used[n] = n, true
		}
	}
	for _, p := range m.pairs {
		if m.to[p.from] < 0 && !m.used[p.to] && alike(&nodes[p.from], &nodes[p.to]) {
			m.to[p.from], m.used[p.to] = p.to, true
		}
	}
	m.nameOthers(nodes)
	for _, i := range pl.order {
		for k := range l.slots[i] {
			l.slots[i][k].Node = m.to[l.slots[i][k].Node]
		}
	}
}

func (m *naming) countPairs(pl *Placer, l *layout) {
	if m.count == nil {
		m.count = make(map[[2]int]int)
	}
	clear(m.count)
	m.pairs = m.pairs[:0]
	for _, i := range pl.order {
		for _, a := range l.slots[i] {
			for _, b := range pl.held[i] {
				key := [2]int{a.Node, b.Node}
				if m.count[key] == 0 {
					m.pairs = append(m.pairs, pair{from: a.Node, to: b.Node})
				}
				m.count[key] += min(a.GPUs, b.GPUs)
			}
		}
	}
	for k := range m.pairs {
		m.pairs[k].gpus = m.count[[2]int{m.pairs[k].from, m.pairs[k].to}]
	}
	slices.SortFunc(m.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.gpus, a.gpus), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
}

func alike(a, b *cluster.Node) bool {
	return a.GPUType == b.GPUType && a.Capacity == b.Capacity
}

func (m *naming) nameOthers(nodes []cluster.Node) {
	for n := range m.to {
		if m.to[n] < 0 && !m.used[n] {
			m.to[n], m.used[n] = n, true
		}
	}
	for n := range m.to {
		if m.to[n] >= 0 {
			continue
		}
		for k := range m.used {
			if !m.used[k] && alike(&nodes[n], &nodes[k]) {
				m.to[n], m.used[k] = k, true
				break
			}
		}
	}
}
