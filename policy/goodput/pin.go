package goodput

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/mmkp"
)

type pinner struct{ *Program }

// pin fixes the allocation of jobs that keep what they have, claim or reserved, while there is room. The order is:
// non-preemptive jobs, reservations, claims by due time, jobs that start or restore. After node failures there may be
// too little room for all. Source: Sia §3.3.4, "Preemption and reservation".
func (p pinner) pin(rows []*Row) {
	free := make([]cluster.Resources, len(p.cluster.Types()))
	for k, t := range p.cluster.Types() {
		free[k] = cluster.Resources{GPUs: t.GPUs, CPUs: t.CPUs, Memory: t.Memory}
	}
	for _, r := range rows {
		r.pin, r.share = configuration{}, cluster.Resources{}
	}
	sets := make([]float64, len(p.sets))
	for k := range p.sets {
		sets[k] = p.sets[k].gpus
	}
	all := func(rows []*Row, wants func(*Row) cluster.Configuration) {
		for _, r := range rows {
			if c := wants(r); !c.IsZero() && r.pin.IsZero() {
				p.pinTo(r, c, free, sets)
			}
		}
	}
	all(rows, nonPreemptive)
	all(rows, reserved)
	all(byDue(rows), claimed)
	all(rows, restoring)
}

func (p pinner) pinTo(r *Row, c cluster.Configuration, free []cluster.Resources, sets []float64) {
	k := p.resource(c.GPUType)
	if k < 0 || free[k].GPUs < c.GPUs {
		return
	}
	if c != r.job.Allocation.Configuration && !p.carries(k, c) {
		return
	}
	pin := configuration{c, k, p.hosts[k]}
	if c != r.job.Allocation.Configuration && !p.holdable(r.job, &pin) || !p.takeSets(r, pin, sets) {
		return
	}
	if share, ok := p.pinnedShare(r, c, k, &free[k]); ok {
		free[k].GPUs -= c.GPUs
		free[k].CPUs -= share.CPUs
		free[k].Memory -= share.Memory
		r.pin, r.share = pin, share
	}
}

// takeSets takes the GPUs of a pinned job from its node sets, and reports whether there were enough.
func (p pinner) takeSets(r *Row, pin configuration, sets []float64) bool {
	r.pin = pin // it then keeps its nodes
	uses := p.setUses(r, &pin)
	r.pin = configuration{}
	for _, u := range uses {
		if sets[u.Resource-p.firstSet] < u.Amount {
			return false
		}
	}
	for _, u := range uses {
		sets[u.Resource-p.firstSet] -= u.Amount
	}
	return true
}

// pinnedShare returns the CPUs and memory of a job pinned to c: those it holds, or for a new configuration up to the
// GPU-proportional share of the free ones.
func (p pinner) pinnedShare(r *Row, c cluster.Configuration, k int, free *cluster.Resources) (cluster.Resources, bool) {
	t, held := &p.cluster.Types()[k], r.job.Allocation
	has := cluster.Resources{CPUs: held.CPUs, Memory: held.Memory}
	switch {
	case c == held.Configuration && (r.job.NonPreemptive || !p.hosts[k].counts()):
		return has, true
	case !p.hosts[k].counts():
		return cluster.Resources{}, true
	case c == held.Configuration:
		rounding := 1e-12 * t.CPUs
		return has, has.CPUs <= free.CPUs+rounding && has.Memory <= free.Memory
	}
	share := t.Proportional(c)
	return cluster.Resources{CPUs: min(share.CPUs, max(0, free.CPUs)), Memory: min(share.Memory, max(0, free.Memory))}, true
}

func (rs *resources) carries(k int, c cluster.Configuration) bool {
	t := &rs.cluster.Types()[k]
	return c.Nodes <= t.Nodes && c.GPUs <= min(c.Nodes*t.PerNode, t.GPUs)
}

func nonPreemptive(r *Row) cluster.Configuration {
	if (r.job.NonPreemptive || r.Stays) && r.job.Holding() {
		return r.job.Allocation.Configuration
	}
	return cluster.Configuration{}
}

func reserved(r *Row) cluster.Configuration {
	if r.job.Phase == job.Profiling {
		return cluster.Configuration{}
	}
	return r.job.Reservation
}

func claimed(r *Row) cluster.Configuration {
	switch {
	case !r.firm || r.job.Phase == job.Profiling || !r.job.Reservation.IsZero():
		return cluster.Configuration{} // a job with a reservation runs only there
	case r.job.Holding() && (r.reaches(r.held, math.Inf(1)) || !r.job.KeepsType(r.Claim.GPUType)):
		return r.job.Allocation.Configuration
	}
	return r.Claim.Configuration
}

func restoring(r *Row) cluster.Configuration {
	if r.job.Phase == job.Restoring && r.job.Reservation.IsZero() {
		return r.job.Allocation.Configuration
	}
	return cluster.Configuration{}
}

// A Claim is a minimum goodput that the plan must give a job in this round, even if other jobs would gain more. If two
// claims conflict, a claim with First wins, then the claim with the earlier Due.
type Claim struct {
	cluster.Configuration
	Rate  float64 // minimum goodput, samples per second; 0: no claim
	Due   float64 // seconds from now until the job should have ended; negative: it is late
	First bool
}

const claimTries = 4

// solve finds the best plan that meets all claims. It first solves the program without them. Then it pins each job
// whose claim is not met, and solves again. A job with a single configuration is pinned from the start. After
// claimTries passes all claims are pinned, in the order of byDue.
func (p *Program) solve(ctx context.Context, rows []*Row) (*mmkp.Solution, error) {
	for try := 1; ; try++ {
		sol, err := p.engine.Solve(ctx)
		if err != nil || !firmUp(rows, sol, try == claimTries) {
			return sol, err
		}
		pinner{p}.pin(rows)
		if err := p.file(rows); err != nil {
			return nil, err
		}
	}
}

func firmUp(rows []*Row, sol *mmkp.Solution, all bool) (more bool) {
	for _, r := range rows {
		if r.Claim.Rate > 0 && !r.firm && (all || !r.meets(sol)) && r.job.Phase != job.Profiling {
			r.firm, more = true, true
		}
	}
	return more
}

func (r *Row) meets(sol *mmkp.Solution) bool {
	if r.pinned() {
		return true
	}
	pick := sol.Pick[r.item.number]
	if pick < 0 {
		return false
	}
	at := r.item.origin[pick]
	return r.reaches(int(at.column), r.cells[at.column][at.cell].goodput)
}

func (r *Row) reaches(column int, most float64) bool {
	const nearly = 1 - 1e-6 // both are sums of the same model in another order
	return column >= 0 && min(most, r.Goodput(column)) >= nearly*r.Claim.Rate
}

func byDue(rows []*Row) (all []*Row) {
	for _, r := range rows {
		if r.firm {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *Row) int {
		if a.Claim.First != b.Claim.First {
			if a.Claim.First {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Claim.Due, b.Claim.Due)
	})
	return all
}
