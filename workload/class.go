package workload

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// ClassStats returns what is true of jobs of a complete specification, as a class of
// jobs without a rate: the epochs of the training curve or, without one, one epoch of
// the target's size. The speed is the goodput with the batch size that the jobs' agents
// come to, on nodes that share their GPUs evenly, and 0 on configurations that they may
// not have. Sizes are in samples at the efficiency of the initial batch size.
// Source: BOA §3.1.
func (a *Application) ClassStats(s *job.Spec) *perf.ClassStats {
	c := &perf.ClassStats{Class: s.Class, Restart: a.RestartDelay, Sizes: []float64{s.Target}}
	goodput := func(_ int, alloc cluster.Allocation) float64 { return s.Target / a.Alone(s, alloc) }
	if regimes, err := a.Regimes(s); err == nil && regimes == nil && a.Curve != nil {
		c.Sizes = a.Curve.sizes()
		goodput = func(epoch int, alloc cluster.Allocation) float64 {
			return a.settledGoodput(s, alloc, epoch) / max(1, a.Slowdown)
		}
	}
	c.Speed = func(epoch int, at cluster.Configuration) float64 {
		if !s.Allows(at) {
			return 0
		}
		return finite(goodput(epoch, cluster.Allocation{Configuration: at}))
	}
	return c
}

// A hunch is the application in one epoch as its agent sees it: with the gradient noise
// scale that it measured at its present batch size.
type hunch struct {
	alone
	phi float64
}

// Efficiency implements perf.Model.
func (h hunch) Efficiency(total float64) float64 {
	if math.IsNaN(h.phi) || math.IsInf(h.phi, 1) { // no gradient to speak of
		return 1
	}
	return perf.Efficiency(h.phi, float64(h.app.Batch.Init), total)
}

// retunes bounds how often an agent is taken to change its batch size in an epoch.
const retunes = 16

// settledGoodput returns the goodput of an epoch on an allocation with the batch size at
// which the job's agent stays, which measures the gradient noise at the one it has: from
// the initial one on, it need not come to the best.
func (a *Application) settledGoodput(s *job.Spec, alloc cluster.Allocation, epoch int) float64 {
	if !s.Adaptivity.Has(job.BatchSizes) || s.Goal != job.Training {
		return a.bestGoodput(s, alloc, epoch)
	}
	truth := alone{a, epoch, s.Goal}
	replicas, limits := alloc.GPUs/s.ReplicaGPUs(alloc.GPUType), a.limits(s, alloc.Configuration)
	batch, total := job.BatchSize{}, a.Batch.Init
	for range retunes {
		sqr, vari := a.Gradient(epoch, float64(total))
		_, next := perf.BestBatch(hunch{truth, float64(a.Batch.Init) * vari / sqr}, alloc, replicas, &limits)
		if next == batch {
			break
		}
		batch, total = next, replicas*next.PerReplica()
	}
	if batch.Local == 0 {
		return 0
	}
	return perf.Goodput(truth, alloc, replicas, batch)
}

// sizes returns the progress that is made in each epoch.
func (c *Curve) sizes() []float64 {
	sizes, before := make([]float64, len(c.Ends)), 0.0
	for e, end := range c.Ends {
		sizes[e], before = end-before, end
	}
	return sizes
}

// finite returns x, and 0 for what is no finite number.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
