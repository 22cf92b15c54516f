package estimate

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

type class struct {
	name     job.Class
	forms    job.Forms
	belief   *Job // learns from all its jobs
	arrivals arrivals
	restart  time.Duration // sum over all jobs
	target   mean
	passed   []mean    // sizes of completed epochs, by epoch
	ended    int       // number of completed jobs
	sums     []float64 // of their epoch sizes, by epoch
	furthest float64   // largest progress of a job
	pace     pace
	shown    *perf.ClassStats
	last     summary // summary of shown
}

type mean struct {
	n     int
	value float64
}

func (m *mean) add(x float64) {
	m.n++
	m.value += (x - m.value) / float64(m.n)
}

type life struct {
	class    *class
	target   float64
	starts   []float64 // progress at which each of its epochs began
	progress float64
	on       cluster.Configuration // configuration of the last report
	marked   float64               // progress at the start of the current measurement
}

func (l *life) reach(epoch int, progress float64) {
	last := len(l.starts) - 1
	from := l.starts[last]
	size := max(0, progress-from) / float64(max(1, epoch-last))
	for e := last; e < epoch; e++ {
		l.class.pass(e, size)
		l.starts = append(l.starts, from+size*float64(e-last+1))
	}
	l.progress = progress
	l.class.furthest = max(l.class.furthest, progress)
}

func (c *class) pass(epoch int, size float64) {
	for len(c.passed) <= epoch {
		c.passed = append(c.passed, mean{})
	}
	c.passed[epoch].add(size)
}

func (l *life) finish() {
	end := l.target
	if end == 0 {
		end = l.progress
	}
	if end == 0 {
		return
	}
	c := l.class
	c.ended++
	for e := len(l.starts) - 1; e >= 0; e-- {
		for len(c.sums) <= e {
			c.sums = append(c.sums, 0)
		}
		c.sums[e] += max(0, end-l.starts[e])
		end = l.starts[e]
	}
}

func (c *class) total() float64 {
	if c.ended == 0 {
		return c.target.value
	}
	total := 0.0
	for _, sum := range c.sums {
		total += sum
	}
	return total / float64(c.ended)
}

// least is the smallest size of an epoch, in samples.
const least = 1e-6

func (c *class) sizes() []float64 {
	all := make([]float64, len(c.sums))
	for e, sum := range c.sums {
		all[e] = max(least, sum/float64(c.ended))
	}
	return all
}

// guess returns epoch sizes without completed jobs, and their source. The last epoch gets the rest of the
// target or, without one, of the mean job size of other classes.
func (c *class) guess(elsewhere float64) (sizes []float64, how string) {
	const none = "no job of the class has ended; "
	left, how := c.target.value, none+"sizes are its target, divided among the epochs seen"
	if left == 0 {
		left, how = elsewhere, none+"sizes are taken from other classes, divided among the epochs seen"
	}
	if left == 0 {
		left, how = 2*c.furthest, none+"sizes assume that the job with the most progress is half done"
	}
	typical := least
	for _, p := range c.passed {
		sizes = append(sizes, max(least, p.value))
		left -= p.value
		typical = max(typical, p.value)
	}
	return append(sizes, max(left, typical)), how
}

func (c *class) summarise(elsewhere float64) summary {
	s := summary{forms: len(c.forms), epochs: len(c.belief.gradients), pace: c.pace.value()}
	for i := range c.belief.types {
		s.news += c.belief.types[i].news
	}
	if c.ended > 0 {
		s.sizes = c.sizes()
	} else {
		s.sizes, s.guessed = c.guess(elsewhere)
	}
	for e := range s.sizes {
		s.noise = append(s.noise, c.belief.noise(c.belief.gradientAt(e)))
	}
	return s
}

func (c *class) show(s *summary) *perf.ClassStats {
	_, limits := c.belief.Model()
	v := &speed{forms: c.forms, limits: limits, pace: s.pace}
	for _, phi := range s.noise {
		v.epochs = append(v.epochs, c.belief.build(phi))
	}
	return &perf.ClassStats{
		Class: c.name, Arrivals: c.arrivals.n, Rate: s.rate, Restart: c.restart / time.Duration(c.arrivals.n),
		Sizes: s.sizes, Speeds: v, Guessed: s.guessed,
	}
}

type speed struct {
	forms  job.Forms
	limits *job.BatchLimits
	epochs []*Model // at least one
	pace   float64
}

func (v *speed) At(epoch int, c cluster.Configuration) float64 {
	spec := v.forms.For(c)
	if spec == nil {
		return 0
	}
	m, a := v.epochs[min(max(epoch, 0), len(v.epochs)-1)], cluster.Allocation{Configuration: c}
	replicas := c.GPUs / spec.ReplicaGPUs(c.GPUType)
	if spec.Adaptivity.Has(job.BatchSizes) {
		goodput, _ := perf.BestBatch(m, a, replicas, v.limits)
		return v.pace * goodput
	}
	b := perf.FixedBatch(max(spec.BatchSize, replicas), replicas, c.GPUType, v.limits)
	return v.pace * perf.Goodput(m, a, replicas, b)
}

// A pace compares actual progress with the progress computed from step times and gradient statistics. Reports
// omit the time between steps, and a job may count its progress differently.
type pace struct {
	trained float64 // seconds that the progress would take at the reported step times
	took    float64 // seconds that it took
}

// unpaced is the prior of a class: this many seconds at pace 1.
const unpaced = 600

// mostPace is the largest pace of one report; a larger one is an error of the agent.
const mostPace = 10

func (p *pace) value() float64 { return (unpaced + p.trained) / (unpaced + p.took) }

func (l *life) keepPace(r *job.Report) {
	switch {
	case r.Profile:
		return
	case r.Configuration != l.on:
		l.on, l.marked = r.Configuration, r.Progress
		return
	case r.StepTime <= 0 || r.Interval <= 0:
		return
	}
	made, goodput := r.Progress-l.marked, l.class.reported(r)
	l.marked = r.Progress
	if made > 0 && goodput > 0 {
		l.class.pace.trained += min(made/goodput, mostPace*r.Interval.Seconds())
		l.class.pace.took += r.Interval.Seconds()
	}
}

func (c *class) reported(r *job.Report) float64 {
	spec := c.forms[0]
	total := float64(r.Configuration.GPUs / spec.ReplicaGPUs(r.Configuration.GPUType) * r.Batch.PerReplica())
	step := r.Step()
	phi := c.belief.noise(gradient{reports: 1, sqr: r.GradSqr, vari: r.GradVar})
	if math.IsInf(phi, 1) || spec.Goal != job.Training {
		return total / step.Seconds()
	}
	return total / step.Seconds() * perf.Efficiency(phi, float64(spec.Batch.Init), total)
}
