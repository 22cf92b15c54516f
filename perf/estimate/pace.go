package estimate

import (
	"math"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// A pace is how fast the jobs of a class come on, over how fast they would by the step
// times and gradients that they report: what is between steps is in no report, and what a
// job is to do may not be what its loop does.
type pace struct {
	trained float64 // seconds that would have been enough
	took    float64 // seconds
}

// unpaced is for how many seconds a class is taken to have come on as reported before any
// of its jobs was seen.
const unpaced = 600

// mostPace is how many times as fast as it reports a job may come on for a report to
// count as it is: more is a mistake of its agent.
const mostPace = 10

func (p *pace) value() float64 { return (unpaced + p.trained) / (unpaced + p.took) }

// keepPace compares what a job made since its last report with what it measured.
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

// reported returns the progress per second of the steps of a report.
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
