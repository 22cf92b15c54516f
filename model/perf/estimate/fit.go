package estimate

import (
	"math"

	"github.com/oxgang/oxgang/model/perf"
)

// mostGamma is the largest overlap exponent of a fit; the least is 1.
const mostGamma = 10

// firstGammas are the starts of a cold fit: little overlap and much. In 5000 synthetic profiles with 10 %
// noise, one start was 2 % above the best of 26 starts in 2.3 % of cases, both in 0.6 %.
var firstGammas = [...]float64{1.4, 4}

// networkPrior is the assumed ratio of network times between and within nodes, until measured.
const networkPrior = 1.1

const noObservations = "estimate: no observations"

// Fit is Fitter.Fit with new scratch memory.
func Fit(obs []perf.Observation, start *perf.Params) (perf.Params, float64) {
	var f fitter
	return f.Fit(obs, start)
}

// fitLoss returns how far the times predicted by p are from measured ones. It is the sum of two root mean squares, of log
// T_acc − log Compute and of log T_opt − log Step, and the priors 1e-3 (Gamma − 1)², 1e-2 (BetaN/AlphaN)² and 1e-2
// (BetaR/AlphaR)². It has no unit. It panics without observations. Source: Pollux §4.1.
func fitLoss(obs []perf.Observation, p *perf.Params) float64 {
	if len(obs) == 0 {
		panic(noObservations)
	}
	u, v := 0.0, 0.0
	for i := range obs {
		o := &obs[i]
		local := float64(o.Local)
		du := math.Log(p.Compute(local) / o.Compute)
		dv := math.Log(p.Step(o.Nodes, o.Replicas, local) / o.Step)
		u += du * du
		v += dv * dv
	}
	n, x := float64(len(obs)), toVector(p)
	return math.Sqrt(u/n) + math.Sqrt(v/n) + priors(&x)
}

// A Fitter fits the parameters of the throughput model to measurements. It reuses its memory between calls. The zero
// value is ready for use.
type fitter struct {
	points []point
	terms  []term // of two states
	duals  []dual
}

// Fit returns the parameters with the least Loss found on the observations, and that loss. Times
// must be positive and finite, samples and replicas at least 1; average repeated measurements of
// one point first.
//
// All alphas and betas are at least 1e-8, and Gamma is in [1, 10]. Parameters that the observations
// do not determine are fixed: AlphaC at half the mean compute time if there is one local batch
// size; AlphaN and BetaN at 1e-8 without a point of several nodes; AlphaR and BetaR without one of
// several replicas on a node; both betas without one of more than two replicas. If no point has
// several nodes, Fit finally raises AlphaN and BetaN to 1.1 times AlphaR and BetaR; the returned
// loss does not include this.
//
// Without a start, Fit searches from two least-squares guesses, with little and with much overlap,
// and returns the better result. Otherwise it searches from start, except for parameters that were
// fixed there. The loss need not be convex, so results may depend on the start. A search costs some
// ten evaluations of the loss and its derivatives.
//
// Source: Pollux §4.1. Deviation: damped Newton with exact second derivatives instead of L-BFGS-B
// with a loose tolerance, because it finds lower losses in less time.
func (f *fitter) Fit(obs []perf.Observation, start *perf.Params) (perf.Params, float64) {
	if len(obs) == 0 {
		panic(noObservations)
	}
	f.load(obs)
	b := limits(obs)
	x, value := vector{}, math.Inf(1)
	for _, g := range firstGammas {
		from := guess(obs, &b, g)
		if start != nil {
			from = resume(from, toVector(start))
		}
		if to, v := f.search(from, &b); v < value {
			x, value = to, v
		}
		if start != nil || b.pinned(alphaN) && b.pinned(alphaR) {
			break // one start, or no overlap to find
		}
	}
	p := x.params()
	loss := fitLoss(obs, &p)
	if b.pinned(alphaN) {
		p.AlphaN = max(p.AlphaN, networkPrior*p.AlphaR)
		p.BetaN = max(p.BetaN, networkPrior*p.BetaR)
	}
	return p, loss
}

func (f *fitter) load(obs []perf.Observation) {
	n := len(obs)
	if cap(f.points) < n {
		f.points, f.terms, f.duals = make([]point, n), make([]term, 2*n), make([]dual, n)
	}
	f.points, f.terms, f.duals = f.points[:n], f.terms[:2*n], f.duals[:n]
	for i := range obs {
		f.points[i] = toPoint(&obs[i])
	}
}

func (f *fitter) search(x vector, b *box) (vector, float64) {
	n := len(f.points)
	b.project(&x)
	s, t := state{x: x, terms: f.terms[:n]}, state{terms: f.terms[n:]}
	for k, at := range stages {
		evaluate(f.points, at.smoothing, &s)
		if k == 0 {
			for i := range s.terms {
				f.duals[i] = dual{s.terms[i].u / s.rmsU, s.terms[i].v / s.rmsV}
			}
		}
		f.minimise(at, b, &s, &t)
	}
	return s.x, s.value
}

func limits(obs []perf.Observation) box {
	var b box
	for i := range dims {
		b.low[i], b.high[i] = floor, math.Inf(1)
	}
	b.low[gamma], b.high[gamma] = 1, mostGamma
	oneSize, between, within, many, compute := true, false, false, false, 0.0
	for i := range obs {
		o := &obs[i]
		oneSize = oneSize && o.Local == obs[0].Local
		between = between || o.Nodes > 1
		within = within || o.Nodes == 1 && o.Replicas > 1
		many = many || o.Replicas > 2
		compute += o.Compute
	}
	if oneSize {
		b.pin(alphaC, compute/float64(len(obs))/2)
	}
	for _, network := range []struct {
		seen  bool
		alpha int
	}{{between, alphaN}, {within, alphaR}} {
		if !network.seen {
			b.pin(network.alpha, floor)
		}
		if !network.seen || !many {
			b.pin(network.alpha+1, floor)
		}
	}
	return b
}
