package workload

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// ClassStats returns how much progress the jobs of a class truly make in each epoch, and how fast. It does not set
// their arrival rate. jobs are complete specifications of this application.
//
// Epochs follow the training curve. Without one, and for batch size schedules, there is one epoch, whose size is the
// mean target. Sizes are in samples at the efficiency of the initial batch size. The speed is the goodput at the best
// allowed batch size, on nodes with equal GPUs. If targets differ, it is the mean target divided by the mean time of
// the jobs that allow the configuration. Source: BOA §3.1.
func (a *Application) ClassStats(jobs ...*job.Spec) *perf.ClassStats {
	c := &perf.ClassStats{Class: jobs[0].Class, Restart: a.RestartDelay}
	if regimes, err := a.Regimes(jobs[0]); err == nil && regimes == nil && a.Curve != nil {
		c.Sizes, c.Speeds = a.Curve.sizes(), byEpoch{a, formsOf(jobs)}
		return c
	}
	total := 0.0
	for _, s := range jobs {
		total += s.Target
	}
	c.Sizes = []float64{total / float64(len(jobs))}
	c.Speeds = meanSpeeds{a, jobs}
	return c
}

func formsOf(jobs []*job.Spec) job.Forms {
	var forms job.Forms
	for _, s := range jobs {
		forms = forms.With(s)
	}
	return forms
}

type byEpoch struct {
	a     *Application
	forms job.Forms
}

func (b byEpoch) At(epoch int, at cluster.Configuration) float64 {
	s := b.forms.For(at)
	if s == nil {
		return 0
	}
	return finite(b.a.bestGoodput(s, cluster.Allocation{Configuration: at}, epoch) / max(1, b.a.Slowdown))
}

// meanSpeeds has targets over times of the jobs that allow a configuration; 0 if one cannot run.
type meanSpeeds struct {
	a    *Application
	jobs []*job.Spec
}

func (m meanSpeeds) At(_ int, at cluster.Configuration) float64 {
	target, seconds := 0.0, 0.0
	for _, s := range m.jobs {
		if s.Allows(at) {
			target += s.Target
			seconds += m.a.Alone(s, cluster.Allocation{Configuration: at})
		}
	}
	return finite(target / seconds)
}

func (c *Curve) sizes() []float64 {
	sizes, before := make([]float64, len(c.Ends)), 0.0
	for e, end := range c.Ends {
		sizes[e], before = end-before, end
	}
	return sizes
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
