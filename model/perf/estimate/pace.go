package estimate

import (
	"math"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

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
