package lyra

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/placement/bestfit"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// A round is a plan in the making.
type round struct {
	*grant.Round
	p       *Policy
	s       *policy.Snapshot
	types   []cluster.TypeInfo
	lent    []bool // by type: all its nodes are on loan
	worth   []int  // by type: how many do the work of one; 0: not looked up
	free    []int  // GPUs, by type
	pairs   []pair
	spots   []spot // by type
	room    *bestfit.Room
	nodes   []host    // by node
	tenants []*tenant // by job
	back    []cluster.NodeID
	prices  []float64 // of phase two, by type
}

// A host is what is known of a node.
type host struct {
	t              int // GPU type
	loaned         bool
	base, flexible int       // GPUs of each kind of worker
	ends           time.Time // of the last job whose base workers are there
	kept           time.Time // until when it is only for jobs that end before; zero: for all
}

// A tenant is a job in this round.
type tenant struct {
	*policy.Job
	index      int
	pair       int           // that it has GPUs of, or gets; none: it waits
	unit       int           // GPUs of a worker, as the job counts them
	plain      bool          // a GPU of any type counts the same for it
	least, top int           // workers
	aim        int           // pair on which it would be fastest, while it waits; none: any
	held       int           // workers that it has
	work       time.Duration // left, by one worker
	rates      []float64     // believed progress per second by workers, from least; nil: nothing is known
	want       allocate.Workers
	base, flex cluster.Placement
	pinned     bool // decided beforehand
	lost       bool // its servers went back
	stuck      bool // it was granted its base demand, and no servers had room
	refused    policy.Reason
}

func (t *tenant) elastic() bool { return t.top > t.least }

func (t *tenant) waits() bool { return !t.pinned && !t.lost && t.pair == none }

// read reads the placements of all jobs, and which of them may not be changed.
func (p *Policy) read(s *policy.Snapshot) *round {
	types := s.Cluster.Types()
	r := &round{
		Round: grant.NewRound(s), p: p, s: s, types: types, worth: make([]int, len(types)), free: make([]int, len(types)),
		room: bestfit.NewRoom(s.Cluster), nodes: make([]host, len(s.Cluster.Nodes())),
		tenants: make([]*tenant, len(s.Jobs)), prices: make([]float64, len(types)),
	}
	for t := range types {
		r.free[t] = types[t].GPUs
	}
	r.pairUp()
	p.tenants = slices.Grow(p.tenants[:0], len(s.Jobs))[:len(s.Jobs)]
	for i, j := range s.Jobs {
		p.tenants[i] = tenant{Job: j, index: i, pair: none, aim: none, pinned: r.Decided(i)}
		r.tenants[i] = &p.tenants[i]
	}
	r.pin()
	for _, t := range r.tenants {
		if !t.pinned && t.Holding() {
			r.settle(t)
		}
	}
	return r
}

// take places workers, and give lets them go.
func (r *round) take(p cluster.Placement) { r.room.Take(p); r.count(p, -1) }
func (r *round) give(p cluster.Placement) { r.room.Give(p); r.count(p, 1) }

// count adds what a placement holds, times sign, to what is free.
func (r *round) count(p cluster.Placement, sign int) {
	for _, s := range p {
		if n, ok := r.s.Cluster.Index(s.Node); ok {
			r.free[r.nodes[n].t] += sign * s.GPUs
		}
	}
}

// pin places the jobs that leave no choice: those that keep what they hold, then
// reservations, on nodes where the fewest GPUs are used.
func (r *round) pin() {
	reserved := false
	for _, t := range r.tenants {
		d := &r.Plan().Jobs[t.index]
		switch {
		case !t.pinned || d.Allocation.IsZero():
		case d.Allocation.Configuration == t.Allocation.Configuration:
			d.Allocation, d.Placement = t.Allocation, t.Placement
			r.take(t.Placement)
		default:
			reserved = true
		}
	}
	if !reserved {
		return
	}
	used := r.used()
	for _, t := range r.tenants {
		if d := &r.Plan().Jobs[t.index]; t.pinned && !d.Allocation.IsZero() && d.Placement == nil {
			r.reserve(d, used)
		}
	}
}

// used returns the GPUs that jobs hold of each node.
func (r *round) used() []int {
	used := make([]int, len(r.nodes))
	for _, t := range r.tenants {
		for _, s := range t.Placement {
			if n, ok := r.s.Cluster.Index(s.Node); ok {
				used[n] += s.GPUs
			}
		}
	}
	return used
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
	r.count(where, -1)
}

// each returns the CPUs and memory of a GPU of an allocation.
func each(a *cluster.Allocation) cluster.Resources {
	return cluster.Resources{CPUs: a.CPUs / float64(a.GPUs), Memory: a.Memory / int64(a.GPUs)}
}

// settle lets a job that runs go on where it is, if it is still there.
func (r *round) settle(t *tenant) {
	at := r.typeOf(t.Allocation.GPUType)
	if at == none || len(t.Placement) == 0 || !r.room.Holds(t.Placement) {
		return
	}
	r.take(t.Placement)
	t.pair = r.spots[at].pair
	r.demand(t, at)
	r.part(t)
	r.note(t, t.base, false)
	r.note(t, t.flex, true)
}

// part tells base workers from flexible ones. Of a heterogeneous job those on training servers
// are the base demand first, whatever it was when it began: "their base demands are placed on
// training servers, and flexible demands on inference servers whenever possible" (Lyra §6).
func (r *round) part(t *tenant) {
	t.base = t.Placement
	if !t.elastic() {
		return
	}
	known, ok := r.p.bases[t.ID]
	switch {
	case t.Allocation.Mixed():
		t.base = r.first(t)
	case ok && known.on.Common(t.Placement) == known.on.GPUs():
		t.base = known.on
	default:
		t.base = first(t.Placement, r.gpus(t, r.typeOf(t.Allocation.GPUType), t.least))
	}
	t.flex = less(t.Placement, t.base)
}

// first returns as many workers of a job as its base demand has, those on training servers
// first.
func (r *round) first(t *tenant) (base cluster.Placement) {
	left := t.least
	for _, at := range r.pairs[t.pair] {
		if at == none || left == 0 {
			continue
		}
		part := r.s.Cluster.On(t.Placement, r.types[at].Type)
		n := min(left, part.GPUs()/r.gpus(t, at, 1))
		base, left = join(base, first(part, r.gpus(t, at, n))), left-n
	}
	return base
}

// note notes workers of a job on their nodes.
func (r *round) note(t *tenant, p cluster.Placement, flexible bool) {
	for _, s := range p {
		n, ok := r.s.Cluster.Index(s.Node)
		if !ok {
			continue
		}
		if h := &r.nodes[n]; flexible {
			h.flexible += s.GPUs
		} else {
			h.base += s.GPUs
			if end := r.end(t); end.After(h.ends) {
				h.ends = end
			}
		}
	}
}

// leave lets workers go.
func (r *round) leave(p cluster.Placement, flexible bool) {
	r.give(p)
	for _, s := range p {
		n, ok := r.s.Cluster.Index(s.Node)
		switch {
		case !ok:
		case flexible:
			r.nodes[n].flexible -= s.GPUs
		default:
			r.nodes[n].base -= s.GPUs
		}
	}
}

// letGo lets some flexible workers of a job go.
func (r *round) letGo(t *tenant, gone ...cluster.Share) {
	r.leave(gone, true)
	t.flex = less(t.flex, gone)
}
