package lyra

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf/remaining"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
	"github.com/oxgang/oxgang/policy/placement/bestfit"
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
	ends           time.Time // of the last job whose base workers are there, if it is on loan
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
	rate       float64         // believed progress per second with its base demand; 0: it has no model
	basis      remaining.Basis // of its work
	memo       memo
	untouched  bool // base and flex are as they were read
}

func (t *tenant) elastic() bool { return t.top > t.least }

func (t *tenant) waits() bool { return !t.pinned && !t.lost && t.pair == none }

// read reads the placements of all jobs, and which of them may not be changed.
func (p *Policy) read(s *policy.Snapshot) *round {
	types := s.Cluster.Types()
	r := &round{
		Round: grant.NewRound(s), p: p, s: s, types: types, worth: make([]int, len(types)), free: make([]int, len(types)),
		room: bestfit.NewRoom(s.Cluster), tenants: slices.Grow(p.spare[:0], len(s.Jobs)), prices: make([]float64, len(types)),
	}
	for t := range types {
		r.free[t] = types[t].GPUs
	}
	r.pairUp()
	p.at = 0
	for i, j := range s.Jobs {
		r.tenants = append(r.tenants, p.again(s, j, r.Decided(i)))
		r.tenants[i].index = i
	}
	clear(r.tenants[len(r.tenants):cap(r.tenants)]) // of rounds with more jobs
	p.last, p.spare = r.tenants, p.last
	r.pin()
	for _, t := range r.tenants {
		switch {
		case t.pinned || !t.Holding():
		case t.memo.version > 0:
			r.resume(t)
		default:
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
	r.remember(t, at)
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
			h.lasts(r.end(t))
		}
	}
}

// lasts says that base workers of a job that ends then are on a node.
func (h *host) lasts(end time.Time) {
	if end.After(h.ends) {
		h.ends = end
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
	t.flex, t.untouched = less(t.flex, gone), false
}
