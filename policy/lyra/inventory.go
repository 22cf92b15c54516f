package lyra

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
	"github.com/oxgang/oxgang/policy/placement"
)

const none = -1

// A pair is a GPU type of the training cluster and one on loan, by allocate.Side; either may be none.
type pair [2]int

type spot struct {
	pair int
	side allocate.Side
}

type inventory struct {
	policy *Policy
	s      *policy.Snapshot
	types  []cluster.TypeInfo
	lent   []bool // by type: all its nodes are on loan
	worth  []int  // by type: GPUs equivalent to one training GPU; 0: unknown yet
	free   []int
	pairs  []pair
	spots  []spot // by type
	room   *placement.Room
	nodes  []host
}

type host struct {
	t              int
	loaned         bool
	base, flexible int       // GPUs of each kind of worker
	ends           time.Time // of the last job with base workers there, on a node on loan
	reservedUntil  time.Time // until then only for jobs that end before; zero: for all
}

func (h *host) extend(end time.Time) {
	if end.After(h.ends) {
		h.ends = end
	}
}

type layout struct {
	of      *cluster.Cluster
	turn    int // clusters so far
	version int // changes of their types
	types   []cluster.TypeInfo
	lent    []bool // by type: all its nodes are on loan
	pairs   []pair
	spots   []spot // by type
	nodes   []host // by node, without workers
	spare   []host // buffer
}

func (p *Policy) stock(s *policy.Snapshot) inventory {
	types := s.Cluster.Types()
	inv := inventory{
		policy: p, s: s, types: types, worth: make([]int, len(types)), free: make([]int, len(types)), room: placement.NewRoom(s.Cluster),
	}
	for t := range types {
		inv.free[t] = types[t].GPUs
	}
	inv.pairUp()
	return inv
}

func (inv *inventory) pairUp() {
	l := &inv.policy.layout
	if l.of != inv.s.Cluster {
		inv.nodes = make([]host, len(inv.s.Cluster.Nodes()))
		inv.lay()
		if !slices.Equal(inv.pairs, l.pairs) || !slices.EqualFunc(inv.types, l.types, sameType) || !slices.Equal(inv.lent, l.lent) {
			l.version++
		}
		*l = layout{of: inv.s.Cluster, turn: l.turn + 1, version: l.version, types: inv.types, lent: inv.lent, pairs: inv.pairs, spots: inv.spots, nodes: inv.nodes, spare: l.spare}
	}
	inv.lent, inv.pairs, inv.spots = l.lent, l.pairs, l.spots
	l.spare = append(l.spare[:0], l.nodes...)
	inv.nodes = l.spare
}

func sameType(a, b cluster.TypeInfo) bool {
	return a.Type == b.Type && a.PerNode == b.PerNode && a.Share == b.Share
}

func (inv *inventory) lay() {
	inv.spots = make([]spot, len(inv.types))
	own, lent := inv.split()
	apart := inv.policy.o.Loan == Opportunity
	for _, t := range own {
		inv.add(pair{t, none})
	}
	for k, t := range lent {
		switch {
		case apart:
			inv.add(pair{t, none})
		case k < len(own):
			inv.pairs[k][allocate.Loaned] = t
			inv.spots[t] = spot{k, allocate.Loaned}
		default:
			inv.add(pair{none, t})
		}
	}
}

func (inv *inventory) add(at pair) {
	for side, t := range at {
		if t != none {
			inv.spots[t] = spot{len(inv.pairs), allocate.Side(side)}
		}
	}
	inv.pairs = append(inv.pairs, at)
}

func (inv *inventory) split() (own, lent []int) {
	inv.lent = make([]bool, len(inv.types))
	for t := range inv.lent {
		inv.lent[t] = true
	}
	for n, node := range inv.s.Cluster.Nodes() {
		h := &inv.nodes[n]
		h.loaned, h.t = node.Tenure == cluster.Loaned, inv.s.Cluster.TypeIndex(node.GPUType)
		inv.lent[h.t] = inv.lent[h.t] && h.loaned
	}
	for t, is := range inv.lent {
		if is {
			lent = append(lent, t)
		} else {
			own = append(own, t)
		}
	}
	return own, lent
}

func (inv *inventory) capacity(at pair) allocate.Capacity {
	var c allocate.Capacity
	for side, t := range at {
		c[side].PerGPU = 1
		if t != none {
			c[side] = allocate.Pool{Free: inv.free[t], Total: inv.types[t].GPUs, PerGPU: float64(inv.perGPU(t))}
		}
	}
	return c
}

func (inv *inventory) perGPU(t int) int {
	if !inv.lent[t] {
		return 1
	}
	if inv.worth[t] == 0 {
		inv.worth[t] = 1
		for _, j := range inv.s.Jobs {
			if n := j.Equivalents[inv.types[t].Type]; n > 0 {
				inv.worth[t] = n
				break
			}
		}
	}
	return inv.worth[t]
}

func (inv *inventory) gpus(t *tenant, at, workers int) int {
	return workers * t.unit * t.equivalents(inv.types[at].Type)
}

func (inv *inventory) take(p cluster.Placement) { inv.room.Take(p); inv.count(p, -1) }
func (inv *inventory) give(p cluster.Placement) { inv.room.Give(p); inv.count(p, 1) }

func (inv *inventory) count(p cluster.Placement, sign int) {
	for _, s := range p {
		if n, ok := inv.s.Cluster.Index(s.Node); ok {
			inv.free[inv.nodes[n].t] += sign * s.GPUs
		}
	}
}
