package lyra

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// demands says what jobs may have, and where their workers are. The phases of a round share it.
type demands struct {
	inventory
	*grant.Round
	tenants []*tenant // by job
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
	rate       float64        // believed progress per second with its base demand; 0: it has no model
	basis      perf.Remaining // of its work
	memo       memo
	untouched  bool // base and flex are as they were read
}

func (t *tenant) elastic() bool { return t.top > t.least }

func (t *tenant) waits() bool { return !t.pinned && !t.lost && t.pair == none }

// read reads the placements of all jobs, and which of them may not be changed.
func (p *Policy) read(s *policy.Snapshot) *placer {
	r := &placer{demands{inventory: p.stock(s), Round: grant.NewRound(s), tenants: slices.Grow(p.spare[:0], len(s.Jobs))}}
	p.at = 0
	for i, j := range s.Jobs {
		r.tenants = append(r.tenants, p.reuse(s, j, r.Decided(i)))
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

// settle lets a job that runs go on where it is, if it is still there.
func (d *demands) settle(t *tenant) {
	at := d.typeOf(t.Allocation.GPUType)
	if at == none || len(t.Placement) == 0 || !d.room.Holds(t.Placement) {
		return
	}
	d.take(t.Placement)
	t.pair = d.spots[at].pair
	d.demand(t, at)
	d.part(t)
	d.note(t, t.base, false)
	d.note(t, t.flex, true)
	d.remember(t, at)
}

// part tells base workers from flexible ones. Of a heterogeneous job those on training servers
// are the base demand first, whatever it was when it began: "their base demands are placed on
// training servers, and flexible demands on inference servers whenever possible" (Lyra §6).
func (d *demands) part(t *tenant) {
	t.base = t.Placement
	if !t.elastic() {
		return
	}
	known, ok := d.policy.bases[t.ID]
	switch {
	case t.Allocation.Mixed():
		t.base = d.first(t)
	case ok && known.on.Common(t.Placement) == known.on.GPUs():
		t.base = known.on
	default:
		t.base = first(t.Placement, d.gpus(t, d.typeOf(t.Allocation.GPUType), t.least))
	}
	t.flex = less(t.Placement, t.base)
}

// first returns as many workers of a job as its base demand has, those on training servers
// first.
func (d *demands) first(t *tenant) (base cluster.Placement) {
	left := t.least
	for _, at := range d.pairs[t.pair] {
		if at == none || left == 0 {
			continue
		}
		part := d.s.Cluster.On(t.Placement, d.types[at].Type)
		n := min(left, part.GPUs()/d.gpus(t, at, 1))
		base, left = join(base, first(part, d.gpus(t, at, n))), left-n
	}
	return base
}

// note notes workers of a job on their nodes.
func (d *demands) note(t *tenant, p cluster.Placement, flexible bool) {
	for _, s := range p {
		n, ok := d.s.Cluster.Index(s.Node)
		if !ok {
			continue
		}
		if h := &d.nodes[n]; flexible {
			h.flexible += s.GPUs
		} else {
			h.base += s.GPUs
			h.lasts(d.end(t))
		}
	}
}

// leave lets workers go.
func (d *demands) leave(p cluster.Placement, flexible bool) {
	d.give(p)
	for _, s := range p {
		n, ok := d.s.Cluster.Index(s.Node)
		switch {
		case !ok:
		case flexible:
			d.nodes[n].flexible -= s.GPUs
		default:
			d.nodes[n].base -= s.GPUs
		}
	}
}

// letGo lets some flexible workers of a job go.
func (d *demands) letGo(t *tenant, gone ...cluster.Share) {
	d.leave(gone, true)
	t.flex, t.untouched = less(t.flex, gone), false
}
