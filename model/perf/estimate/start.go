package estimate

import (
	"math"

	"github.com/oxgang/oxgang/model/perf"
)

// A line accumulates the least squares of the relative error (α + β x)/y − 1 over measurements y at
// x.
type line struct{ s0, s1, s2, r0, r1 float64 }

func (l *line) add(x, y float64) {
	w := 1 / y
	l.s0 += w * w
	l.s1 += w * w * x
	l.s2 += w * w * x * x
	l.r0 += w
	l.r1 += w * x
}

func (l *line) fit() (alpha, beta float64) {
	const sameX = 1e-9 // relative determinant
	if l.s0 == 0 {
		return floor, floor
	}
	if det := l.s0*l.s2 - l.s1*l.s1; det > sameX*l.s0*l.s2 {
		alpha = (l.r0*l.s2 - l.r1*l.s1) / det
		beta = (l.s0*l.r1 - l.s1*l.r0) / det
		if alpha < floor {
			return floor, l.r1 / l.s2
		}
	}
	if beta < floor {
		return l.r0 / l.s0, floor
	}
	return alpha, beta
}

// leastGap is the least share of a step, to the power of gamma, that a guess assigns to the
// network.
const leastGap = 1e-3

// guess returns the start of a cold fit: each phase alone by least squares, with overlap exponent g.
func guess(obs []perf.Observation, b *box, g float64) vector {
	var acc, between, within line
	for i := range obs {
		o := &obs[i]
		acc.add(float64(o.Local), o.Compute)
		share := max(leastGap, 1-math.Pow(o.Compute/o.Step, g))
		net := o.Step * math.Pow(share, 1/g)
		switch {
		case o.Nodes > 1:
			between.add(float64(max(o.Replicas-2, 0)), net)
		case o.Replicas > 1:
			within.add(float64(o.Replicas-2), net)
		}
	}
	x := vector{gamma: g}
	x[alphaC], x[betaC] = acc.fit()
	x[alphaN], x[betaN] = between.fit()
	x[alphaR], x[betaR] = within.fit()
	x[alphaN] = max(x[alphaN], x[betaN]) // the prior is steep beyond
	x[alphaR] = max(x[alphaR], x[betaR])
	if b.pinned(alphaC) { // the slope provides the other half
		x[betaC] = b.low[alphaC] / float64(obs[0].Local)
	}
	if b.pinned(alphaN) && b.pinned(alphaR) {
		x[gamma] = 1 // only its prior counts
	}
	return x
}

// resume returns start, but uses the guess for each phase that start has at floor: there the
// derivatives are 0.
func resume(guess, start vector) vector {
	const unseen = 2 * networkPrior * floor
	for _, k := range [...]int{alphaC, alphaN, alphaR} {
		if start[k] <= unseen && start[k+1] <= unseen {
			start[k], start[k+1] = guess[k], guess[k+1]
		}
	}
	return start
}
