package submesh

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A memory caches the positions of the nodes of a placement, to save lookups by name in every round.
type memory struct {
	share *cluster.Share // first share of the placement: its identity
	at    []int32
}

type memo struct {
	spec  *job.Spec
	where *memory
}

// locate starts a claim for every job and finds the nodes of jobs that stay, in one pass: jobs and memos are
// in the same order.
func (pl *Placer) locate() {
	if n := len(pl.s.Jobs); cap(pl.claims) < n {
		pl.claims = make([]claim, n)
	}
	pl.claims = pl.claims[:len(pl.s.Jobs)]
	next := 0
	for i, j := range pl.s.Jobs {
		d, c := &pl.p.Jobs[i], &pl.claims[i]
		*c = claim{state: opening(j, d, pl.s.Now), slots: c.slots[:0]}
		if c.state == none {
			continue
		}
		c.pool = int32(pl.cluster.TypeIndex(d.Allocation.GPUType))
		if c.state == moving {
			continue
		}
		held := pl.holds(i)
		for k := next; k < len(pl.memo); k++ {
			if pl.memo[k].spec == j.Spec {
				next = k + 1
				if m := pl.memo[k].where; m.share == &held[0] && len(m.at) == len(held) {
					c.where = m
				}
				break
			}
		}
		if c.where == nil {
			c.where = pl.lookUp(held)
		}
	}
}

func (pl *Placer) lookUp(p cluster.Placement) *memory {
	at := make([]int32, len(p))
	for k := range p {
		i, ok := pl.cluster.Index(p[k].Node)
		if !ok {
			return nil
		}
		at[k] = int32(i)
	}
	return &memory{&p[0], at}
}

func (pl *Placer) write() {
	pl.memo = pl.memo[:0]
	for i, j := range pl.s.Jobs {
		c, d := &pl.claims[i], &pl.p.Jobs[i]
		switch c.state {
		case none, dropped:
			continue
		case staying, fixed:
			if len(d.Placement) == 0 {
				d.Placement = j.Placement
				if d.Allocation != j.Allocation {
					d.Placement = portions(j.Placement, d.Allocation)
					c.where = &memory{&d.Placement[0], c.where.at}
				}
			}
		case moving:
			p, at := pl.name(c.slots, d.Allocation)
			if p.Equal(j.Placement) {
				p = j.Placement
			}
			d.Placement, c.where = p, &memory{&p[0], at}
		}
		pl.memo = append(pl.memo, memo{j.Spec, c.where})
	}
}
