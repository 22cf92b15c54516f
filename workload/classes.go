package workload

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// Classes returns what is true of the classes of a trace's jobs, by name: the perfect
// information of BOA's experiments. A rate is the number of a class' jobs over the time
// of the last arrival of all, or over an hour if all come at once; of jobs without
// class nothing is said. Jobs of a class follow the application of its first job, nil
// if that is known only by its Duration, and have its limits. Source: BOA §3.1, §6.3.
func Classes(arrivals []Arrival, of func(*job.Spec) *Application) []*perf.ClassStats {
	var all []*perf.ClassStats
	last := time.Duration(0)
	for i := range arrivals {
		s := &arrivals[i].Spec
		last = max(last, arrivals[i].At)
		at, found := slices.BinarySearchFunc(all, s.Class, func(c *perf.ClassStats, name job.Class) int { return cmp.Compare(c.Class, name) })
		switch {
		case s.Class == "":
			continue
		case !found:
			all = slices.Insert(all, at, classStats(s, of(s)))
		}
		all[at].Arrivals++
	}
	for _, c := range all {
		c.Rate = float64(c.Arrivals) / cmp.Or(last, time.Hour).Seconds()
	}
	return all
}

func classStats(s *job.Spec, a *Application) *perf.ClassStats {
	if a == nil {
		a = Steady(s.GPUs)
	}
	return a.ClassStats(s)
}

// ClassStats returns what is true of jobs like s that follow the application, but for
// how often they come: sizes in samples at the initial batch size's efficiency. Without
// a curve, and by a schedule of batch sizes, they are one epoch, of the target of s.
// Source: BOA §3.1.
func (a *Application) ClassStats(s *job.Spec) *perf.ClassStats {
	c := &perf.ClassStats{Class: s.Class, Restart: a.RestartDelay, Sizes: []float64{s.Target}}
	if a.Curve != nil && a.Model == "" {
		c.Sizes = a.Curve.sizes()
	}
	c.Speed = func(epoch int, at cluster.Configuration) float64 { return a.speed(s, epoch, at) }
	return c
}

// sizes returns the progress made in each epoch.
func (c *Curve) sizes() []float64 {
	sizes, before := slices.Clone(c.Ends), 0.0
	for i, end := range c.Ends {
		sizes[i], before = end-before, end
	}
	return sizes
}

// speed returns the true progress per second of a job in an epoch: with its best batch
// size or, if that must not change, its own.
func (a *Application) speed(s *job.Spec, epoch int, c cluster.Configuration) float64 {
	alloc := cluster.Allocation{Configuration: c}
	if _, most := a.Speed.LocalRange(c.GPUType, evenShape(c)); most == 0 || !s.Allows(c) {
		return 0
	}
	slow := max(1, a.Slowdown)
	switch {
	case a.Model != "":
		return a.Fed(alloc, a.cut(s.BatchSize, c)) / slow
	case a.Curve == nil:
		return a.Fed(alloc, job.BatchSize{Local: 1}) / slow
	}
	return a.bestGoodput(s, alloc, min(max(epoch, 0), len(a.Curve.Ends)-1)) / slow
}
