// Package perf predicts how fast a job trains: throughput from GPUs and batch size, statistical efficiency from the
// batch size, and their product, goodput. Sources: Sia §2.1 and §3.3.2; Pollux §3.
package perf

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Model predicts how fast one job trains. Implementations must be comparable with ==: callers cache predictions, and
// discard them when they receive a different model.
type Model interface {
	// Throughput returns samples per second on an allocation at a batch size;
	// 0 if the job does not run on it with that batch size.
	Throughput(a cluster.Allocation, b job.BatchSize) float64
	// Efficiency returns the progress per sample at total batch size m (samples), relative to the progress at the
	// job's initial batch size.
	Efficiency(m float64) float64
	// StepTime bounds the step times on an allocation, which saves calls in BestBatch; zero: unknown.
	StepTime(a cluster.Allocation) StepTime
}

// Same reports whether two models are known to be equal. It is false for models without a method Same.
func Same(a, b Model) bool {
	of, ok := a.(interface{ Same(Model) bool })
	return ok && b != nil && of.Same(b)
}

// Efficiency returns the progress per sample at batch size m, relative to batch size init: (phi + init) / (phi + m),
// all in samples. phi is the preconditioned gradient noise scale. Source: Sia §2.1, Eq. 2.3.
func Efficiency(phi, init, m float64) float64 { return (phi + init) / (phi + m) }

// Params are the seven parameters of the throughput model, in seconds, seconds per sample (BetaC) or seconds per
// replica (BetaN, BetaR). Source: Pollux §3.2, as used by Sia §3.3.2.
type Params struct {
	AlphaC, BetaC float64 // compute: T_acc = AlphaC + BetaC * local batch
	AlphaN, BetaN float64 // gradient exchange between nodes
	AlphaR, BetaR float64 // gradient exchange within a node
	Gamma         float64 // overlap of compute and exchange: 1 none, large full
}

// tiny, in seconds, is what the model uses instead of 0, so that logarithms are finite.
const tiny = 1e-8

// Compute returns T_acc, the seconds of one pass over local samples without exchange of gradients.
func (p *Params) Compute(local float64) float64 { return p.AlphaC + p.BetaC*local }

// Network returns T_net, the seconds that the replicas on the given number of nodes take to exchange gradients.
func (p *Params) Network(nodes, replicas int) float64 {
	more := math.Max(float64(replicas-2), tiny)
	switch {
	case nodes > 1:
		return p.AlphaN + p.BetaN*more
	case replicas > 1:
		return p.AlphaR + p.BetaR*more
	}
	return tiny
}

// Step returns T_opt, the seconds of one pass with exchange of gradients: (T_acc^gamma + T_net^gamma)^(1/gamma).
func (p *Params) Step(nodes, replicas int, local float64) float64 {
	return overlap(p.Compute(local), p.Network(nodes, replicas), p.Gamma)
}

// overlap returns (a^g + b^g)^(1/g), computed from the larger term so that it
// cannot overflow.
func overlap(a, b, g float64) float64 {
	if g == 1 {
		return a + b
	}
	if b > a {
		a, b = b, a
	}
	if b <= a*1e-9 {
		return a
	}
	part := g * math.Log(b/a)
	if part < unseen {
		return a
	}
	return a * math.Exp(math.Log(1+math.Exp(part))/g)
}

// unseen is below the logarithm of 2^-53: what is less adds nothing to 1.
const unseen = -37

// Iteration returns the seconds of one optimiser step: the passes that accumulate gradients, then the pass that
// exchanges them.
func (p *Params) Iteration(nodes, replicas int, b job.BatchSize) float64 {
	local := float64(b.Local)
	return float64(b.Accumulation)*p.Compute(local) + p.Step(nodes, replicas, local)
}

// An Observation is one measurement to which the throughput model is fitted.
type Observation struct {
	Nodes, Replicas int
	Local           int     // samples per replica and pass
	Compute         float64 // seconds of a pass without gradient exchange
	Step            float64 // seconds of a pass with gradient exchange
}

// Remember lets m save or restore p.
func (p *Params) Remember(m *memory.Codec) {
	m.Fields(&p.AlphaC, &p.BetaC, &p.AlphaN, &p.BetaN, &p.AlphaR, &p.BetaR, &p.Gamma)
}

// Remember lets m save or restore o.
func (o *Observation) Remember(m *memory.Codec) {
	m.Fields(&o.Nodes, &o.Replicas, &o.Local, &o.Compute, &o.Step)
}

// Remember lets m save or restore s.
func (s *Sensitivity) Remember(m *memory.Codec) {
	memory.Slice(m, &s.CPUs, (*CPURate).Remember)
	m.Fields(&s.Input)
}

// Remember lets m save or restore r.
func (r *CPURate) Remember(m *memory.Codec) { m.Fields(&r.CPUs, &r.Rate) }

// ClassStats are statistics of the jobs of one class: how often jobs arrive, and for each training epoch how much
// progress they make and how fast. They are immutable. Source: BOA §3.1.
type ClassStats struct {
	Class    job.Class
	Arrivals int           // jobs of the class submitted so far
	Rate     float64       // lambda_i, arrivals per second
	Restart  time.Duration // time of a start or a change of GPUs, r_i
	// Sizes is the mean progress made in each epoch, E[X_ij], in order.
	Sizes  []float64
	Speeds EpochSpeeds
	// Guessed, if not empty, describes which numbers do not come from ended jobs.
	Guessed string
}

// EpochSpeeds returns the speed of the jobs of a class in each epoch on each configuration. It is an interface because
// a checkpoint cannot store a function.
type EpochSpeeds interface {
	// At returns the goodput (progress per second) in an epoch, from 0, with the best batch size; 0 if the
	// jobs do not run there. It is a pure function, safe for concurrent use.
	At(epoch int, c cluster.Configuration) float64
}

// An EpochSpeed is a function that implements EpochSpeeds.
type EpochSpeed func(epoch int, c cluster.Configuration) float64

// At implements EpochSpeeds.
func (f EpochSpeed) At(epoch int, c cluster.Configuration) float64 { return f(epoch, c) }

// Speed returns the goodput in an epoch on a configuration; see EpochSpeeds.At.
func (s *ClassStats) Speed(epoch int, c cluster.Configuration) float64 { return s.Speeds.At(epoch, c) }
