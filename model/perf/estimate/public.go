package estimate

import (
	"github.com/oxgang/oxgang/model/perf"
)

// publicTolerance is the tolerance of the public fit. With kinks in the loss it stops the search early, which
// is part of the public simulator's behaviour: parameters that did not move stay at the start.
const publicTolerance = 1e-5

var publicStart = vector{0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001}

// A Minimizer searches for a minimum of f between low and high, starting from x. f writes its gradient to grad. The
// search stops when the decrease of f or its gradient is below tolerance. On return, x holds the final point.
type Minimizer func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64)

// A PublicFitter fits the throughput model exactly as Sia's published simulator does, to reproduce its results.
// Minimize must be set. It is not safe for concurrent use.
type PublicFitter struct {
	Minimize Minimizer // minimiser of the public simulator: package opt/lbfgsb

	points []point
	state  state
	loss   func(x, grad []float64) float64 // f.objective
	x      vector
	box    box
}

// Fit returns the parameters that the optimiser of Sia's public simulator finds (L-BFGS-B with its start and
// tolerance), and their Loss. Where the loss has kinks, the result may depend on rounding. It panics without
// observations or Minimize. Source: Pollux §4.1.
func (f *PublicFitter) Fit(obs []perf.Observation) (perf.Params, float64) {
	if len(obs) == 0 {
		panic(noObservations)
	}
	f.load(obs)
	f.Minimize(f.x[:], f.box.low[:], f.box.high[:], f.loss, publicTolerance)
	p := f.x.params()
	if f.box.pinned(alphaN) {
		p.AlphaN = max(p.AlphaN, networkPrior*p.AlphaR)
		p.BetaN = max(p.BetaN, networkPrior*p.BetaR)
	}
	return p, Loss(obs, &p)
}

func (f *PublicFitter) load(obs []perf.Observation) {
	if f.loss == nil {
		f.loss = f.objective
	}
	n := len(obs)
	if cap(f.points) < n {
		f.points, f.state.terms = make([]point, n), make([]term, n)
	}
	f.points, f.state.terms = f.points[:n], f.state.terms[:n]
	for i := range obs {
		f.points[i] = toPoint(&obs[i])
	}
	f.box, f.x = limits(obs), publicStart
	f.box.project(&f.x)
}

func (f *PublicFitter) objective(x, grad []float64) float64 {
	s := &f.state
	s.x = vector(x)
	evaluate(f.points, 0, s)
	var us, vs vector
	for i := range f.points {
		p, t := &f.points[i], &s.terms[i]
		r := row{t, pair{t.perAcc, t.perAcc * p.local}, pair{t.perNet, t.perNet * p.peers}, p.network}
		us.add(alphaC, t.u, &r.a)
		vs.chain(t.v, &r)
	}
	n := float64(len(f.points))
	wu, wv := inverse(n*s.rmsU), inverse(n*s.rmsV)
	for i := range dims {
		grad[i] = wu*us[i] + wv*vs[i]
	}
	grad[gamma] += 2 * overlapPrior * (x[gamma] - 1)
	for _, k := range [2]int{alphaN, alphaR} {
		ratio := x[k+1] / x[k]
		grad[k] -= 2 * growthPrior * ratio * ratio / x[k]
		grad[k+1] += 2 * growthPrior * ratio / x[k]
	}
	return s.value
}

func inverse(x float64) float64 {
	if x == 0 {
		return 0
	}
	return 1 / x
}
