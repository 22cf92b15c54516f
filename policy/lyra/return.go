package lyra

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// reclaim gives back the servers that their owners want. Flexible workers there are let go,
// jobs with base workers there are preempted, and wait for the next round. Source: Lyra §4.
func (r *round) reclaim() error {
	for i := range r.s.Loans {
		if l := &r.s.Loans[i]; l.Reclaim > 0 {
			if err := r.giveBack(l); err != nil {
				return fmt.Errorf("group %s: %w", l.Group, err)
			}
		}
	}
	slices.Sort(r.back)
	r.Plan().Return = r.back
	return nil
}

// giveBack chooses the servers of one owner that go back.
func (r *round) giveBack(l *cluster.Loan) error {
	servers, able := r.servers(l.Group)
	o := r.p.o.Reclaim
	o.Seed += uint64(r.s.Round)
	answer, err := reclaim.Choose(servers, min(l.Reclaim, able), o)
	if err != nil {
		return err
	}
	for _, id := range answer.Servers {
		n, _ := r.s.Cluster.Index(id)
		r.vacate(n)
		r.back = append(r.back, id)
	}
	return nil
}

// servers returns the servers of an owner, with the workers there, and how many of them can
// go back.
func (r *round) servers(g cluster.Group) (servers []reclaim.Server, able int) {
	at := make([]int, len(r.nodes)) // place in servers, from 1
	for n, node := range r.s.Cluster.Nodes() {
		if r.nodes[n].loaned && node.Group == g {
			servers = append(servers, reclaim.Server{ID: node.ID})
			at[n] = len(servers)
		}
	}
	for i, t := range r.tenants {
		if t.pinned {
			t.base, t.flex, t.untouched = r.Plan().Jobs[i].Placement, nil, false
		}
		r.share(servers, at, t.base, reclaim.Share{Job: t.ID, Pinned: t.pinned})
		r.share(servers, at, t.flex, reclaim.Share{Job: t.ID, Pinned: t.pinned, Flexible: true})
	}
	for i := range servers {
		if !slices.ContainsFunc(servers[i].Holdings, func(h reclaim.Share) bool { return h.Pinned }) {
			able++
		}
	}
	return servers, able
}

// share notes a job's workers on the servers: like one, but for the GPUs.
func (r *round) share(servers []reclaim.Server, at []int, p cluster.Placement, like reclaim.Share) {
	for _, s := range p {
		if n, ok := r.s.Cluster.Index(s.Node); ok && at[n] > 0 {
			like.GPUs = s.GPUs
			h := &servers[at[n]-1]
			h.Holdings = append(h.Holdings, like)
		}
	}
}

// vacate takes all jobs off a node that goes back.
func (r *round) vacate(n int) {
	id := r.s.Cluster.Nodes()[n].ID
	for _, t := range r.tenants {
		if t.pinned || t.pair == none {
			continue
		}
		if on(t.base, id) > 0 {
			r.preempt(t)
			continue
		}
		if i := slices.IndexFunc(t.flex, func(s cluster.Share) bool { return s.Node == id }); i >= 0 {
			r.letGo(t, t.flex[i])
		}
	}
	r.free[r.nodes[n].t] -= r.room.Free(n)
	r.room.Close(n)
}

// preempt takes all its workers from a job.
func (r *round) preempt(t *tenant) {
	r.leave(t.base, false)
	r.leave(t.flex, true)
	t.refused = policy.Reason{Kind: policy.Reclaimed, Config: t.Allocation.Configuration}
	t.base, t.flex, t.pair, t.lost, t.untouched = nil, nil, none, true, false
}

// borrow asks for all that owners would lend: "the inference cluster scheduler autonomously
// determines when and which servers to lend" (§4).
func (r *round) borrow() {
	for i := range r.s.Loans {
		if l := &r.s.Loans[i]; l.Spare > 0 && r.p.o.Loan != NoLoan {
			if r.Plan().Capacity == nil {
				r.Plan().Capacity = make(map[cluster.Group]int)
			}
			r.Plan().Capacity[l.Group] = l.Lent + l.Spare
		}
	}
}
