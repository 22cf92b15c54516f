package lyra

import (
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/placement/bestfit"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// A round is a plan in the making.
type round struct {
	*queue.Round
	p       *Policy
	s       *policy.Snapshot
	types   []cluster.TypeInfo
	lent    []bool // by type: all its nodes are on loan
	room    *bestfit.Room
	tenants []*tenant // by job
	nodes   []host    // by node
	back    []cluster.NodeID
	prices  [2]float64 // of phase two
}

// A host is what is known of a node on loan, or what else hosts workers.
type host struct {
	loaned         bool
	base, flexible int       // GPUs of each kind of worker
	ends           time.Time // of the last job whose base workers are there
	kept           time.Time // until when it is only for jobs that end before; zero: for all
}

// A tenant is a job in this round.
type tenant struct {
	*policy.Job
	index      int
	t          int // GPU type that it has, or gets; -1: none
	unit       int // GPUs of a worker, in the training cluster
	least, top int // workers
	base, flex cluster.Placement
	fresh      bool // it starts in this round
	lost       bool // its servers went back
	stuck      bool // it was granted its base demand, and no servers had it
	pinned     bool // decided beforehand
	refused    policy.Reason
	workers    int           // that it is to have
	work       time.Duration // left, by one worker
}

func (t *tenant) elastic() bool { return t.top > t.least }

// placed returns where the job is.
func (t *tenant) placed() cluster.Placement { return join(t.base, t.flex) }

// read finds out who is where, and what may not be taken from anyone.
func (p *Policy) read(s *policy.Snapshot) *round {
	r := &round{
		Round: queue.NewRound(s), p: p, s: s, types: s.Cluster.Types(),
		room: bestfit.NewRoom(s.Cluster), nodes: make([]host, len(s.Cluster.Nodes())),
		tenants: make([]*tenant, len(s.Jobs)),
	}
	r.sides()
	all := make([]tenant, len(s.Jobs))
	for i, j := range s.Jobs {
		all[i] = tenant{Job: j, index: i, t: -1}
		r.tenants[i] = &all[i]
	}
	r.pin()
	for _, t := range r.tenants {
		if !t.pinned {
			r.settle(t)
		}
	}
	return r
}

// sides finds out which nodes, and which types, are on loan.
func (r *round) sides() {
	r.lent = make([]bool, len(r.types))
	for t := range r.lent {
		r.lent[t] = true
	}
	for n, node := range r.s.Cluster.Nodes() {
		r.nodes[n].loaned = node.Tenure == cluster.Loaned
		if !r.nodes[n].loaned {
			r.lent[r.typeOf(node.GPUType)] = false
		}
	}
}

// typeOf returns the place of a GPU type in types; -1 if it is not there.
func (r *round) typeOf(t cluster.GPUType) int {
	for i := range r.types {
		if r.types[i].Type == t {
			return i
		}
	}
	return -1
}

// pin places the jobs that leave no choice: those that keep what they hold, then
// reservations, on nodes where the fewest GPUs are used.
func (r *round) pin() {
	used := make([]int, len(r.nodes))
	for i, j := range r.s.Jobs {
		d := &r.Plan().Jobs[i]
		r.tenants[i].pinned = r.Decided(i)
		if r.Decided(i) && !d.Allocation.IsZero() && d.Allocation.Configuration == j.Allocation.Configuration {
			d.Allocation, d.Placement = j.Allocation, j.Placement
			r.room.Take(j.Placement)
		}
		for _, share := range j.Placement {
			if n, ok := r.s.Cluster.Index(share.Node); ok {
				used[n] += share.GPUs
			}
		}
	}
	for i := range r.s.Jobs {
		if d := &r.Plan().Jobs[i]; r.Decided(i) && !d.Allocation.IsZero() && d.Placement == nil {
			r.reserve(d, used)
		}
	}
}

// reserve places a reservation.
func (r *round) reserve(d *policy.Decision, used []int) {
	a := &d.Allocation
	want := bestfit.Want{Type: a.GPUType, GPUs: a.GPUs, Unit: (a.GPUs + a.Nodes - 1) / a.Nodes, Each: each(a)}
	want.Rank = func(n int) int {
		if r.nodes[n].loaned {
			return -1
		}
		return used[n]
	}
	where, ok := r.room.Place(want)
	if !ok {
		*d = policy.Decision{Why: policy.Reason{Kind: policy.Evicted, Config: a.Configuration}}
		return
	}
	d.Placement = where
}

// each returns the CPUs and memory of a GPU of an allocation.
func each(a *cluster.Allocation) cluster.Resources {
	return cluster.Resources{CPUs: a.CPUs / float64(a.GPUs), Memory: a.Memory / int64(a.GPUs)}
}

// settle finds out what a job is to have, and where it is.
func (r *round) settle(t *tenant) {
	if t.Holding() {
		t.t = r.typeOf(t.Allocation.GPUType)
	}
	if t.t >= 0 && len(t.Placement) > 0 && r.room.Holds(t.Placement) {
		r.room.Take(t.Placement)
		r.demand(t, t.t)
		r.part(t)
		r.count(t, t.base, t.flex)
		return
	}
	t.t = -1
}

// part tells base workers from flexible ones.
func (r *round) part(t *tenant) {
	t.base = t.Placement
	if !t.elastic() {
		return
	}
	if known, ok := r.p.bases[t.ID]; ok && known.on.Common(t.Placement) == known.on.GPUs() {
		t.base, t.flex = known.on, less(t.Placement, known.on)
		return
	}
	t.base = first(t.Placement, t.least*t.unit*t.Equivalent(t.Allocation.GPUType))
	t.flex = less(t.Placement, t.base)
}

// count notes workers on their nodes.
func (r *round) count(t *tenant, base, flex cluster.Placement) {
	end := r.end(t)
	for _, s := range base {
		if n, ok := r.s.Cluster.Index(s.Node); ok {
			h := &r.nodes[n]
			h.base += s.GPUs
			if end.After(h.ends) {
				h.ends = end
			}
		}
	}
	for _, s := range flex {
		if n, ok := r.s.Cluster.Index(s.Node); ok {
			r.nodes[n].flexible += s.GPUs
		}
	}
}
