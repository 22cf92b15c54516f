package gavel

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type entry struct {
	a     *account
	t     int
	keys  [3]float64
	spare bool // nothing is owed there
	holds bool
}

const negligible = 1e-6

// serve grants GPUs in order, to jobs that fit. Source: Gavel §5.
func (p *Policy) serve(s *policy.Snapshot, r *grant.Round, begins bool) {
	switch {
	case p.o.Rules == PublicCode:
		publicRules{p}.servePublic(s, r)
		return
	case p.o.Rules == SiaCode:
		publicRules{p}.serveSiaCode(s, r)
		return
	case !begins:
		r.KeepRunning()
	default:
		r.KeepUnsaved()
	}
	p.recordKept(r)
	for _, e := range p.line(s) {
		if !r.Decided(e.a.index) && r.Grant(e.a.index, e.t) {
			e.a.last = e.t
		}
	}
}

// line sorts pairs of job and type by the time owed at the end of the turn. GPUs owed to no job go to the jobs
// that are owed most elsewhere.
//
// Deviation: priorities are time due minus time received, not their ratio since the last solution (Gavel §5),
// because solutions follow each change, and small fractions would never have their turn.
func (p *Policy) line(s *policy.Snapshot) []entry {
	round := p.span(s).Seconds()
	var line []entry
	for _, a := range p.active {
		total, held := 0.0, p.typeOf(a)
		for t := range p.types {
			total += a.owed[t] + a.x[t]*round
		}
		for t, size := range a.size {
			if size == 0 {
				continue
			}
			e := entry{a: a, t: t, holds: t == held, keys: [3]float64{a.owed[t] + a.x[t]*round}}
			if a.x[t] < negligible {
				e.spare, e.keys = true, [3]float64{total, a.rate[t]}
			}
			line = append(line, e)
		}
	}
	slices.SortStableFunc(line, func(a, b entry) int {
		return cmp.Or(cmp.Compare(rank(a.spare), rank(b.spare)), cmp.Compare(b.keys[0], a.keys[0]),
			cmp.Compare(rank(b.holds), rank(a.holds)), cmp.Compare(b.keys[1], a.keys[1]))
	})
	return line
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *Policy) begins(s *policy.Snapshot) bool {
	if p.o.Rules != Paper || p.turnStart.IsZero() || s.Now.Sub(p.turnStart)+s.Length/2 >= p.o.Turn {
		p.turnStart = s.Now
		return true
	}
	return false
}

func (p *Policy) span(s *policy.Snapshot) time.Duration {
	return max(s.Length, p.o.Turn)
}

// recordKept records the types of jobs that keep their GPUs.
//
// Deviation: jobs without checkpoints use time owed to others, because Gavel's jobs all have checkpoints.
func (p *Policy) recordKept(r *grant.Round) {
	for _, a := range p.active {
		if r.Decided(a.index) {
			a.last = p.typeOf(a)
		}
	}
}

type reasons struct{ *Policy }

func (p reasons) explain(s *policy.Snapshot, r *grant.Round, plan *policy.Plan) {
	for _, a := range p.active {
		if !r.Decided(a.index) {
			plan.Jobs[a.index].Why = p.wait(s, r, a)
		}
	}
	p.stats(plan)
}

func (p reasons) stats(plan *policy.Plan) {
	f := &p.outcome
	plan.Stats = policy.Stats{Iterations: f.iterations, Objective: f.objective, Bound: f.bound}
	plan.Stats.Gap = policy.Gap(f.objective, f.bound)
	for t, price := range f.prices {
		if t < len(p.types) {
			plan.Prices = append(plan.Prices, policy.TypePrice{Type: p.types[t], Price: price})
		}
	}
}

func (p reasons) wait(s *policy.Snapshot, r *grant.Round, a *account) policy.Reason {
	at, gang := p.where(a, r)
	switch {
	case at < 0:
		return policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: max(1, a.row.GPUs)}}
	case a.size[at] == 0:
		return policy.Reason{Kind: policy.WaitNoCapacity, Config: gang, Value: float64(r.Free(at)), Limit: float64(gang.GPUs)}
	case p.o.Objective == AlloX && a.x[at] == 0:
		return policy.Reason{Kind: policy.WaitServed, Config: gang, Value: float64(r.Free(at)), Limit: float64(gang.GPUs)}
	case p.o.Objective == Sum && a.x[at] < negligible && len(p.outcome.prices) > at:
		if worth, price := a.pace[at]/a.size[at], p.outcome.prices[at]; worth < price {
			return policy.Reason{Kind: policy.WaitPrice, Config: gang, Value: worth, Limit: price}
		}
	}
	return policy.Turn(a.row, s.Now)
}

func (p reasons) where(a *account, r *grant.Round) (at int, gang cluster.Configuration) {
	at = -1
	for t := range p.types {
		g, ok := r.Gang(a.index, t)
		if ok && (at < 0 || a.x[t] > a.x[at] || a.x[t] == a.x[at] && a.rate[t] > a.rate[at]) {
			at, gang = t, g.Configuration
		}
	}
	return at, gang
}
