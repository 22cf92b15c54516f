package copter

import (
	"cmp"
	"math"
	"slices"
)

// A knapsack is one block: bounded columns and one row over them.
type knapsack struct {
	coef, low, up []float64
	rowLow, rowUp float64
}

// project minimises Σ (x - target)² / (2 give) over the block, from x, the targets clipped to their bounds. The
// multiplier is a root of an increasing, piecewise linear function: Newton steps, or halvings when they leave
// the bracket, end exactly on it.
func (b *knapsack) project(x, target, give []float64) (mu float64, tight bool) {
	act := 0.0
	for c, v := range x {
		act += b.coef[c] * v
	}
	side := b.rowUp
	switch {
	case act < b.rowLow:
		side = b.rowLow
	case act <= b.rowUp:
		return 0, false
	}
	below, above := math.Inf(-1), math.Inf(1)
	for range maxRootSteps {
		act, slope, size := b.at(mu, x, target, give)
		miss := side - act
		if math.Abs(miss) <= 1e-15*max(size, math.Abs(side)) {
			break
		}
		if miss > 0 {
			below = mu
		} else {
			above = mu
		}
		next := mu + miss/slope
		if slope == 0 {
			next = b.nextKink(target, give, mu, miss > 0)
		}
		if !(next > below && next < above) {
			next = (below + above) / 2
		}
		if next == mu || math.IsNaN(next) || math.IsInf(next, 0) {
			break
		}
		mu = next
	}
	return mu, true
}

// maxRootSteps is enough: 64 halvings exhaust a float64.
const maxRootSteps = 200

func (b *knapsack) at(mu float64, x, target, give []float64) (act, slope, size float64) {
	for c, t := range target {
		a := b.coef[c]
		step := a * give[c]
		v := t + mu*step
		switch {
		case v <= b.low[c]:
			v = b.low[c]
		case v >= b.up[c]:
			v = b.up[c]
		default:
			slope += a * step
		}
		x[c] = v
		act += a * v
		size = max(size, math.Abs(a*v))
	}
	return act, slope, size
}

// nextKink returns a multiplier just beyond the next at which a column leaves its bound.
func (b *knapsack) nextKink(target, give []float64, mu float64, upwards bool) float64 {
	sign := -1.0
	if upwards {
		sign = 1
	}
	next := math.Inf(1)
	for c, t := range target {
		if b.low[c] == b.up[c] {
			continue
		}
		step := b.coef[c] * give[c] * sign
		bound := b.low[c]
		switch v := t + mu*b.coef[c]*give[c]; {
		case step > 0 && v <= b.low[c]:
		case step < 0 && v >= b.up[c]:
			bound = b.up[c]
		default:
			continue
		}
		reach := (bound - t) / step
		next = min(next, max(reach, mu*sign)+1e-9*(1+math.Abs(bound))/math.Abs(step))
	}
	return next * sign
}

// A kink is the multiplier that moves a column between its bounds.
type kink struct{ at, span float64 }

func (b *knapsack) dual(r []float64, scratch []kink) (mu float64, _ []kink) {
	// At multiplier 0 a column without reduced cost may be anywhere: the activity is within least..most.
	least, most := 0.0, 0.0
	endless := 0.0 // infinite if the activity is
	for c, v := range r {
		a := b.coef[c]
		if v == 0 {
			least += min(a*b.low[c], a*b.up[c])
			most += max(a*b.low[c], a*b.up[c])
			continue
		}
		x := b.low[c]
		if v < 0 {
			x = b.up[c]
		}
		if math.IsInf(x, 0) {
			endless = a * x
			continue
		}
		least += a * x
		most += a * x
	}
	switch {
	case math.IsInf(b.rowUp, 1) && endless > 0, math.IsInf(b.rowLow, -1) && endless < 0:
		return 0, scratch
	case endless > 0 || endless == 0 && least > b.rowUp:
		return b.leave(r, b.rowUp, 1, scratch)
	case endless < 0 || most < b.rowLow:
		return b.leave(r, b.rowLow, -1, scratch)
	}
	return 0, scratch
}

// leave returns the multiplier at which the activity returns to the side that it exceeds at 0. Sign -1 mirrors the
// problem.
func (b *knapsack) leave(r []float64, side, sign float64, scratch []kink) (mu float64, _ []kink) {
	// From the least activity up to multiplier 0. If the least is infinite, start at the last kink that makes it
	// finite.
	act, side := 0.0, side*sign
	scratch = scratch[:0]
	start, first := math.Inf(-1), kink{at: 0}
	for c, v := range r {
		a := b.coef[c] * sign
		if a == 0 {
			continue
		}
		at := v / a
		if a < 0 && math.IsInf(b.up[c], 1) || a > 0 && math.IsInf(b.low[c], -1) {
			start = max(start, at)
			act += max(a*b.low[c], a*b.up[c])
			continue
		}
		act += min(a*b.low[c], a*b.up[c])
		if at < 0 {
			k := kink{at, math.Abs(a) * (b.up[c] - b.low[c])}
			if k.at < first.at {
				first = k
			}
			scratch = append(scratch, k)
		}
	}
	start = min(start, 0)
	switch {
	case act >= side && !math.IsInf(start, -1):
		return start * sign, scratch
	case len(scratch) == 0:
		return 0, scratch
	case first.span >= side-act:
		return max(first.at, start) * sign, scratch
	}
	slices.SortFunc(scratch, func(x, y kink) int { return cmp.Compare(x.at, y.at) })
	for _, k := range scratch {
		if act += k.span; act >= side {
			return max(k.at, start) * sign, scratch
		}
	}
	return 0, scratch
}
