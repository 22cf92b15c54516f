package lyra

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/reclaim"
)

type borrower struct {
	*demands
	back []cluster.NodeID // servers to return
}

// reclaim returns the servers that their owners want. Source: Lyra §4.
func (b *borrower) reclaim() error {
	for i := range b.s.Loans {
		if l := &b.s.Loans[i]; l.Reclaim > 0 {
			if err := b.giveBack(l); err != nil {
				return fmt.Errorf("group %s: %w", l.Group, err)
			}
		}
	}
	slices.Sort(b.back)
	b.Plan().Return = b.back
	return nil
}

func (b *borrower) giveBack(l *cluster.Loan) error {
	servers, able := b.servers(l.Group)
	o := b.policy.o.Reclaim
	o.Seed += uint64(b.s.Round)
	answer, err := reclaim.Choose(servers, min(l.Reclaim, able), o)
	if err != nil {
		return err
	}
	for _, id := range answer.Servers {
		n, _ := b.s.Cluster.Index(id)
		b.vacate(n)
		b.back = append(b.back, id)
	}
	return nil
}

func (b *borrower) servers(g cluster.Group) (servers []reclaim.Server, able int) {
	at := make([]int, len(b.nodes))
	for n, node := range b.s.Cluster.Nodes() {
		if b.nodes[n].loaned && node.Group == g {
			servers = append(servers, reclaim.Server{ID: node.ID})
			at[n] = len(servers)
		}
	}
	for i, t := range b.tenants {
		if t.pinned {
			t.base, t.flex, t.untouched = b.Plan().Jobs[i].Placement, nil, false
		}
		b.share(servers, at, t.base, reclaim.Share{Job: t.ID, Pinned: t.pinned})
		b.share(servers, at, t.flex, reclaim.Share{Job: t.ID, Pinned: t.pinned, Flexible: true})
	}
	for i := range servers {
		if !slices.ContainsFunc(servers[i].Holdings, func(h reclaim.Share) bool { return h.Pinned }) {
			able++
		}
	}
	return servers, able
}

func (b *borrower) share(servers []reclaim.Server, at []int, p cluster.Placement, like reclaim.Share) {
	for _, s := range p {
		if n, ok := b.s.Cluster.Index(s.Node); ok && at[n] > 0 {
			like.GPUs = s.GPUs
			h := &servers[at[n]-1]
			h.Holdings = append(h.Holdings, like)
		}
	}
}

func (b *borrower) vacate(n int) {
	id := b.s.Cluster.Nodes()[n].ID
	for _, t := range b.tenants {
		if t.pinned || t.pair == none {
			continue
		}
		if on(t.base, id) > 0 {
			b.preempt(t)
			continue
		}
		if i := slices.IndexFunc(t.flex, func(s cluster.Share) bool { return s.Node == id }); i >= 0 {
			b.release(t, t.flex[i])
		}
	}
	b.free[b.nodes[n].t] -= b.room.Free(n)
	b.room.Close(n)
}

func (b *borrower) preempt(t *tenant) {
	b.leave(t.base, false)
	b.leave(t.flex, true)
	t.refused = policy.Reason{Kind: policy.Reclaimed, Config: t.Allocation.Configuration}
	t.base, t.flex, t.pair, t.reclaimed, t.untouched = nil, nil, none, true, false
}

// borrow asks for all that owners would lend: "the inference cluster scheduler autonomously determines when
// and which servers to lend" (§4).
func (b *borrower) borrow() {
	for i := range b.s.Loans {
		if l := &b.s.Loans[i]; l.Spare > 0 && b.policy.o.Loan != NoLoan {
			if b.Plan().Capacity == nil {
				b.Plan().Capacity = make(map[cluster.Group]int)
			}
			b.Plan().Capacity[l.Group] = l.Lent + l.Spare
		}
	}
}
