package themis

import (
	"context"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// admit returns how many of the first n jobs can have GPUs at the same time, and puts those
// first, in the same order. It takes the worst treated first, and passes over jobs that do not
// fit with those before them.
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

// roomiest returns the type that leaves most GPUs free if the job has its fewest there; -1
// if none has as many.
func (b *bidder) roomiest(left []int) int {
	best, most := -1, -1
	for _, o := range b.offers {
		if n := left[o.t] - b.fewest(o.t); n > most {
			best, most = o.t, n
		}
	}
	return best
}

// auction gives the first n jobs what makes the product of their valuations greatest, less
// what they pay. Source: Themis §3.3.1 (Partial Allocation), Shockwave §8.2.
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

// tieWeight is how much more the logarithm of the valuation counts of the worst treated bidder
// than of the best.
const tieWeight = 1e-6

// solve finds the offers, one for every bidder, with the greatest product of valuations; of
// equal products, the one that gives more to those treated worse.
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

// charge takes the hidden payments of the first n jobs, of which free were the GPUs. Source:
// Themis §3.3.1.
func (p *Policy) charge(ctx context.Context, r *round, n int, free []int) error {
	kept := make([]int, n) // the smaller offer of each
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
		kept[i] = b.most(won.t, int(c*float64(won.gpus)+1e-6)) // 1e-6: times are whole nanoseconds
	}
	for i, k := range kept {
		b := &r.jobs[i]
		r.free[b.offers[b.won].t] += b.offers[b.won].gpus
		r.take(b, k)
	}
	return nil
}

// keeps returns the fraction that bidder i keeps of what it won: the product of what the
// others' GPUs are worth to them, over that of what they would have won without it.
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

// fewest returns the fewest GPUs of a type among a job's offers.
func (b *bidder) fewest(t int) int { return b.offers[b.most(t, 0)].gpus }

// most returns the largest offer of a type of at most n GPUs, or else the smallest there is.
func (b *bidder) most(t, n int) int {
	best := -1
	for k, o := range b.offers {
		if o.t == t && (best < 0 || o.gpus <= n) {
			best = k
		}
	}
	return best
}
