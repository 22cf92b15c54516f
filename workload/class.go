package workload

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// ClassStats returns what is true of jobs like these, complete specifications of a class
// that follow the application, but for how often they come: the epochs of the training
// curve or, without one and by a schedule of batch sizes, one epoch of the first job's
// target. The speed is the goodput with the best batch size that the jobs may have, on
// nodes that share their GPUs evenly, and 0 on configurations that none of them may have.
// Sizes are in samples at the efficiency of the initial batch size. Of no jobs it panics.
// Source: BOA §3.1.
func (a *Application) ClassStats(jobs ...*job.Spec) *perf.ClassStats {
	var forms job.Forms
	for _, s := range jobs {
		forms = forms.With(s)
	}
	first := jobs[0]
	c := &perf.ClassStats{Class: first.Class, Restart: a.RestartDelay, Sizes: []float64{first.Target}}
	goodput := func(s *job.Spec, _ int, alloc cluster.Allocation) float64 { return s.Target / a.Alone(s, alloc) }
	if regimes, err := a.Regimes(first); err == nil && regimes == nil && a.Curve != nil {
		c.Sizes = a.Curve.sizes()
		goodput = func(s *job.Spec, epoch int, alloc cluster.Allocation) float64 {
			return a.bestGoodput(s, alloc, epoch) / max(1, a.Slowdown)
		}
	}
	c.Speed = func(epoch int, at cluster.Configuration) float64 {
		s := forms.For(at)
		if s == nil {
			return 0
		}
		return finite(goodput(s, epoch, cluster.Allocation{Configuration: at}))
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

// finite returns x, and 0 for what is no finite number.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
