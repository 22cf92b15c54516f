package workload

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// ClassStats returns what is true of jobs of a complete specification, as a class of
// jobs without a rate: the epochs of the training curve or, without one, one epoch of
// the target's size. The speed is the goodput with the best batch size that the jobs
// may have, on nodes that share their GPUs evenly, and 0 on configurations that they
// may not have. Sizes are in samples at the efficiency of the initial batch size.
// Source: BOA §3.1.
func (a *Application) ClassStats(s *job.Spec) *perf.ClassStats {
	c := &perf.ClassStats{Class: s.Class, Restart: a.RestartDelay, Sizes: []float64{s.Target}}
	goodput := func(_ int, alloc cluster.Allocation) float64 { return s.Target / a.Alone(s, alloc) }
	if regimes, err := a.Regimes(s); err == nil && regimes == nil && a.Curve != nil {
		c.Sizes = a.Curve.sizes()
		goodput = func(epoch int, alloc cluster.Allocation) float64 {
			return a.bestGoodput(s, alloc, epoch) / max(1, a.Slowdown)
		}
	}
	c.Speed = func(epoch int, at cluster.Configuration) float64 {
		if !may(s, at) {
			return 0
		}
		return finite(goodput(epoch, cluster.Allocation{Configuration: at}))
	}
	return c
}

// sizes returns the progress that is made in each epoch.
func (c *Curve) sizes() []float64 {
	sizes, before := make([]float64, len(c.Ends)), 0.0
	for e, end := range c.Ends {
		sizes[e], before = end-before, end
	}
	return sizes
}

// may reports whether a job may have so many GPUs of a type.
func may(s *job.Spec, c cluster.Configuration) bool {
	switch {
	case !s.Eligible(c.GPUType) || c.GPUs < s.Min(c.GPUType) || c.GPUs%s.ReplicaGPUs(c.GPUType) != 0:
		return false
	case !s.Adaptivity.Has(job.GPUCount):
		return c.GPUs == s.GPUs
	}
	return s.MaxGPUs == 0 || c.GPUs <= s.MaxGPUs
}

// finite returns x, and 0 for what is no finite number.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
