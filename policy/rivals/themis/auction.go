package themis

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

func (r *round) admit(n int) int {
	left := slices.Clone(r.free)
	var in, out []bidder
	for _, b := range r.jobs[:n] {
		if t := b.roomiest(left); t >= 0 {
			left[t] -= b.fewest(t)
			in = append(in, b)
		} else {
			out = append(out, b)
		}
	}
	copy(r.jobs[copy(r.jobs, in):], out)
	return len(in)
}

func (b *bidder) roomiest(left []int) int {
	best, most := -1, -1
	for _, o := range b.offers {
		if n := left[o.t] - b.fewest(o.t); n > most {
			best, most = o.t, n
		}
	}
	return best
}

// auction gives the first n jobs the offers with the greatest product, minus payments. Source: Themis §3.3.1
// (Partial Allocation), Shockwave §8.2.
func (p *Policy) auction(ctx context.Context, r *round, n int) error {
	free := slices.Clone(r.free)
	out, err := p.solve(ctx, r.jobs[:n], free)
	if err != nil {
		return err
	}
	for i, pick := range out.Pick {
		r.take(&r.jobs[i], pick)
	}
	r.plan.Plan().Stats = policy.Stats{
		Iterations: out.Iterations, Objective: out.Value, Bound: out.Bound,
		Gap: policy.Gap(out.Value, out.Bound), Interrupted: out.Status == mmkp.Interrupted,
	}
	if !p.o.Payments {
		return nil
	}
	return p.charge(ctx, r, n, free)
}

const tieWeight = 1e-6

func (p *Policy) solve(ctx context.Context, bidders []bidder, free []int) (*mmkp.Solution, error) {
	if len(bidders) == 0 {
		return &mmkp.Solution{}, nil
	}
	g := mmkp.Problem{}
	for _, n := range free {
		g.Capacity = append(g.Capacity, float64(n))
	}
	for i := range bidders {
		item := mmkp.Item{Must: true}
		weight := 1 + tieWeight*float64(len(bidders)-i)/float64(len(bidders))
		for _, o := range bidders[i].offers {
			item.Choices = append(item.Choices, mmkp.Choice{Value: weight * o.value, Use: mmkp.Use{Resource: o.t, Amount: float64(o.gpus)}})
		}
		g.Items = append(g.Items, item)
	}
	return p.solver.Solve(ctx, &g, nil, mmkp.DefaultOptions())
}

// charge takes the hidden payments of the first n jobs. Source: Themis §3.3.1.
func (p *Policy) charge(ctx context.Context, r *round, n int, free []int) error {
	kept := make([]int, n) // reduced offer
	for i := range r.jobs[:n] {
		b := &r.jobs[i]
		kept[i] = b.won
		won := &b.offers[b.won]
		if b.fewest(won.t) == won.gpus {
			continue
		}
		c, err := p.keeps(ctx, r.jobs[:n], i, free)
		if err != nil {
			return err
		}
		kept[i] = b.most(won.t, int(c*float64(won.gpus)+1e-6)) // times are rounded to nanoseconds
	}
	for i, k := range kept {
		b := &r.jobs[i]
		r.free[b.offers[b.won].t] += b.offers[b.won].gpus
		r.take(b, k)
	}
	return nil
}

// keeps returns the fraction that bidder i keeps: the others' product, over their product in an auction without i.
func (p *Policy) keeps(ctx context.Context, bidders []bidder, i int, free []int) (float64, error) {
	others := slices.Delete(slices.Clone(bidders), i, i+1)
	out, err := p.solve(ctx, others, free)
	if err != nil {
		return 0, err
	}
	log := 0.0
	for k, pick := range out.Pick {
		log += others[k].offers[others[k].won].value - others[k].offers[pick].value
	}
	return math.Exp(math.Min(0, log)), nil
}

func (b *bidder) fewest(t int) int { return b.offers[b.most(t, 0)].gpus }

func (b *bidder) most(t, n int) int {
	best := -1
	for k, o := range b.offers {
		if o.t == t && (best < 0 || o.gpus <= n) {
			best = k
		}
	}
	return best
}

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
