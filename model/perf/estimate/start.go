package estimate

import (
	"math"

	"github.com/oxgang/oxgang/model/perf"
)

// A line accumulates the least squares of (α + β x)/y − 1, the relative error,
// over measurements y at x.
type line struct{ s0, s1, s2, r0, r1 float64 }

func (l *line) add(x, y float64) {
	w := 1 / y
	l.s0 += w * w
	l.s1 += w * w * x
	l.s2 += w * w * x * x
	l.r0 += w
	l.r1 += w * x
}

// fit returns the best α and β of at least floor.
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

// leastGap is the least share of a step, to the power of gamma, that a guess
// leaves to the network.
const leastGap = 1e-3

// guess returns where a cold fit begins: each phase alone, by least squares,
// with the network time that the overlap exponent g leaves.
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
	x[alphaN] = max(x[alphaN], x[betaN]) // their prior is steep beyond
	x[alphaR] = max(x[alphaR], x[betaR])
	if b.pinned(alphaC) { // the slope makes up the other half
		x[betaC] = b.low[alphaC] / float64(obs[0].Local)
	}
	if b.pinned(alphaN) && b.pinned(alphaR) {
		x[gamma] = 1 // its prior alone decides
	}
	return x
}

// resume returns start, with the guess for each phase that start has at floor:
// no derivative would lead away from there.
func resume(guess, start vector) vector {
	const unseen = 2 * networkPrior * floor
	for _, k := range [...]int{alphaC, alphaN, alphaR} {
		if start[k] <= unseen && start[k+1] <= unseen {
			start[k], start[k+1] = guess[k], guess[k+1]
		}
	}
	return start
}
