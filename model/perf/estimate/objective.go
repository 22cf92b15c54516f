package estimate

import (
	"math"
	"strconv"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// The variables of a fit, in the order of perf.Params. Each alpha is followed
// by its beta.
const (
	alphaC = iota
	betaC
	alphaN
	betaN
	alphaR
	betaR
	gamma
	dims
)

// floor is the least alpha and beta, in seconds. The throughput model uses it for 0.
const floor = 1e-8

var logFloor = math.Log(floor)

// Weights of the two priors: little overlap of the phases, and little growth of network time with
// replicas.
const (
	overlapPrior = 1e-3
	growthPrior  = 1e-2
)

type vector [dims]float64

func toVector(p *perf.Params) vector {
	return vector{p.AlphaC, p.BetaC, p.AlphaN, p.BetaN, p.AlphaR, p.BetaR, p.Gamma}
}

func (x *vector) params() perf.Params {
	return perf.Params{
		AlphaC: x[alphaC], BetaC: x[betaC], AlphaN: x[alphaN], BetaN: x[betaN],
		AlphaR: x[alphaR], BetaR: x[betaR], Gamma: x[gamma],
	}
}

type point struct {
	local, peers  float64 // samples per pass; replicas beyond the second
	compute, step float64 // logarithms of the measured seconds
	network       int     // alphaN, alphaR, or none
}

// none marks a point of one replica, which exchanges nothing.
const none = -1

func toPoint(o *perf.Observation) point {
	p := point{
		local: float64(o.Local), peers: math.Max(float64(o.Replicas-2), floor),
		compute: math.Log(o.Compute), step: math.Log(o.Step), network: none,
	}
	switch {
	case o.Nodes > 1:
		p.network = alphaN
	case o.Replicas > 1:
		p.network = alphaR
	}
	return p
}

// A term is the objective at one point: the errors u = log T_acc − log compute and v = log T_opt −
// log step, and their derivatives. With a = log T_acc, b = log T_net and g = gamma,
//
//	v = log(exp(g a) + exp(g b)) / g − log step,  ∂v/∂a = 1 − q,  ∂v/∂b = q.
type term struct {
	u, v           float64
	perAcc, perNet float64 // 1 / T_acc, 1 / T_net
	ahead          float64 // a − b
	q              float64 // 1 / (1 + exp(g (a − b))): the network's share
	slope          float64 // ∂v/∂g
}

type state struct {
	x          vector
	terms      []term  // one for each point
	rmsU, rmsV float64 // smoothed root mean squares of the errors
	value      float64
}

// evaluate computes s from s.x. Smoothing enters the root mean squares, so that they have a
// gradient where all errors are 0.
func evaluate(points []point, smoothing float64, s *state) {
	sumU, sumV := 0.0, 0.0
	for i := range points {
		t := &s.terms[i]
		t.compute(&points[i], &s.x)
		sumU += t.u * t.u
		sumV += t.v * t.v
	}
	n := float64(len(points))
	s.rmsU = math.Sqrt(sumU/n + smoothing*smoothing)
	s.rmsV = math.Sqrt(sumV/n + smoothing*smoothing)
	s.value = s.rmsU + s.rmsV + priors(&s.x)
}

func (t *term) compute(p *point, x *vector) {
	acc, net, b := x[alphaC]+x[betaC]*p.local, floor, logFloor
	if p.network != none {
		net = x[p.network] + x[p.network+1]*p.peers
		b = math.Log(net)
	}
	a, g := math.Log(acc), x[gamma]
	t.perAcc, t.perNet, t.ahead = 1/acc, 1/net, a-b
	gap := math.Abs(t.ahead)
	e := math.Exp(-g * gap)
	less := 1 / (1 + e) // 1 − less is the share of the shorter phase
	extra := math.Log(1+e) / g
	t.q = less
	if a >= b {
		t.q = e * less
	}
	t.slope = -(extra + gap*e*less) / g
	t.u = a - p.compute
	t.v = math.Max(a, b) + extra - p.step
}

func priors(x *vector) float64 {
	n, r := x[betaN]/x[alphaN], x[betaR]/x[alphaR]
	return overlapPrior*(x[gamma]-1)*(x[gamma]-1) + growthPrior*(n*n+r*r)
}

// mostError is the largest Options.Error: a third of the speeds are wrong by more than e^5 ≈ 150 times.
const mostError = 5

// Factor returns an artificial error for experiments, by which the estimated speed of a class is multiplied: exp(Error
// · N(0, 1)), drawn once per class, GPU type and number of GPUs. More GPUs may then seem faster per pass, although
// perf.FloorBetween assumes that they are not. Source: BOA §6.4.
func (o *Options) Factor(class job.Class, c cluster.Configuration) float64 {
	if o.Error == 0 {
		return 1
	}
	return o.factor(string(class), c)
}

func (o *Options) factor(class string, c cluster.Configuration) float64 {
	name := "estimate-error/" + class + "/" + string(c.GPUType) + "/" + strconv.Itoa(c.GPUs)
	return math.Exp(o.Error * rng.Stream(o.Seed, name).NormFloat64())
}
