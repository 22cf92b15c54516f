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
// if that is known only by its Duration. Source: BOA §3.1, §6.3.
func Classes(arrivals []Arrival, of func(*job.Spec) *Application) []*perf.ClassStats {
	var jobs []job.Forms // of a class each, by name
	var counts []int
	last := time.Duration(0)
	for i := range arrivals {
		s := &arrivals[i].Spec
		last = max(last, arrivals[i].At)
		at, found := slices.BinarySearchFunc(jobs, s.Class, func(f job.Forms, name job.Class) int { return cmp.Compare(f[0].Class, name) })
		switch {
		case s.Class == "":
			continue
		case !found:
			jobs, counts = slices.Insert(jobs, at, job.Forms{s}), slices.Insert(counts, at, 0)
		}
		jobs[at] = jobs[at].With(s)
		counts[at]++
	}
	all := make([]*perf.ClassStats, len(jobs))
	for i, f := range jobs {
		app := of(f[0])
		if app == nil {
			app = Steady(f[0].GPUs)
		}
		all[i] = app.ClassStats(f...)
		all[i].Arrivals, all[i].Rate = counts[i], float64(counts[i])/cmp.Or(last, time.Hour).Seconds()
	}
	return all
}

// ClassStats returns what is true of jobs like those of a class that follow the
// application, but for how often they come: sizes in samples at the initial batch
// size's efficiency. Without a curve, and by a schedule of batch sizes, they are one
// epoch, of the target of the first. Of no jobs it panics. Source: BOA §3.1.
func (a *Application) ClassStats(jobs ...*job.Spec) *perf.ClassStats {
	var forms job.Forms
	for _, s := range jobs {
		forms = forms.With(s)
	}
	c := &perf.ClassStats{Class: jobs[0].Class, Restart: a.RestartDelay, Sizes: []float64{jobs[0].Target}}
	if a.Curve != nil && a.Model == "" {
		c.Sizes = a.Curve.sizes()
	}
	c.Speed = func(epoch int, at cluster.Configuration) float64 {
		if s := forms.For(at); s != nil {
			return a.speed(s, epoch, at)
		}
		return 0
	}
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
	if _, most := a.Speed.LocalRange(c.GPUType, evenShape(c)); most == 0 {
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
