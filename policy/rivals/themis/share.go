package themis

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/policy"
)

// share gives leftovers first to jobs n to through, which passed the filter but did not fit, then by least
// remaining time. Then jobs grow, worst treated first. Source: Themis §3.3.1, leftovers.
func (r *round) share(n, through int) {
	rest := make([]*bidder, 0, len(r.jobs))
	for i := range r.jobs[n:] {
		rest = append(rest, &r.jobs[n+i])
	}
	slices.SortStableFunc(rest[through-n:], func(a, b *bidder) int { return cmp.Compare(a.alone, b.alone) })
	for _, b := range rest {
		if k := r.best(b); k >= 0 {
			r.take(b, k)
		}
	}
	for i := range r.jobs {
		r.grow(&r.jobs[i])
	}
}

func (r *round) best(b *bidder) int {
	best, home := -1, false
	for k, o := range b.offers {
		if !o.asked || o.gpus > r.free[o.t] {
			continue
		}
		held := b.Holding() && r.s.Cluster.Types()[o.t].Type == b.Allocation.GPUType
		if best < 0 || held && !home || held == home && o.left < b.offers[best].left {
			best, home = k, held
		}
	}
	return best
}

func (r *round) grow(b *bidder) {
	if b.won < 0 {
		return
	}
	best, has := b.won, b.offers[b.won]
	for k, o := range b.offers {
		if o.t == has.t && o.gpus > has.gpus && o.gpus-has.gpus <= r.free[o.t] && o.left < b.offers[best].left {
			best = k
		}
	}
	r.free[has.t] += has.gpus
	r.take(b, best)
}

func (r *round) take(b *bidder, k int) {
	if b.won = k; k >= 0 {
		r.free[b.offers[k].t] -= b.offers[k].gpus
	}
}

func (r *round) give(through int) {
	for i := range r.jobs {
		if b := &r.jobs[i]; b.won >= 0 {
			r.plan.Give(b.index, b.offers[b.won].t, b.offers[b.won].gpus)
		}
	}
	waiting := 0
	for i := range r.jobs {
		b := &r.jobs[i]
		if r.plan.Decided(b.index) {
			continue
		}
		r.refuse(b, i < through, waiting)
		waiting++
	}
}

func (r *round) refuse(b *bidder, through bool, waiting int) {
	why := &r.plan.Plan().Jobs[b.index].Why
	r.plan.Refuse(b.index)
	switch {
	case through || why.Kind != policy.WaitNoCapacity:
	case waiting > 0:
		least := b.offers[0].gpus
		for _, o := range b.offers {
			least = min(least, o.gpus)
		}
		*why = policy.Reason{Kind: policy.WaitOrder, Value: float64(waiting), Limit: float64(least)}
	default:
		why.Kind = policy.WaitServed
	}
}
