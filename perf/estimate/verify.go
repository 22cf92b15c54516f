package estimate

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// What a job says of itself it may say to get GPUs. Options.Verify bounds what that can do:
//
//   - No curve is steeper than linear: with more replicas, or on more nodes, a pass takes no
//     less time. Speeds that say otherwise are lowered when models are built: physical.
//   - Step times are believed only as far as the progress that they should have made is
//     reported, too: Trust shrinks with each report that claims more, and heals slowly.
//   - Without full trust a job is believed to scale as a job does of which nothing is known
//     but its speed on one replica, the further the less it is trusted: doubted.
//
// A job that tells the same lie of times and of progress passes, until it is to be complete:
// nobody else counts its samples.

const (
	// tolerance is by how much a claim may be above what it is compared with: noise of
	// measurement, and nodes that are better connected within than the model has it.
	tolerance = 0.1
	// shrink is what an over-claim leaves of trust, and heal the part of what is lacking
	// that an honest report gives back: half of it after some 14 reports, 7 minutes.
	shrink = 0.5
	heal   = 0.05
)

// physical returns parameters with which more nodes are not faster than one, but for
// the tolerance. Within one kind of network betas of at least 0 see to it.
func physical(p perf.Params) perf.Params {
	const most = 1 / (1 + tolerance)
	p.AlphaN = max(p.AlphaN, most*p.AlphaR)
	p.BetaN = max(p.BetaN, most*p.BetaR)
	return p
}

// A trust is how far what a job reports is believed.
type trust struct {
	lacking float64 // 0: fully believed; 1: not at all
	on      cluster.Configuration
	marked  float64 // progress when what it reports next began to be measured
}

// check compares what a job claims to have made since its last report with the rate that it
// claims, in progress per second, and reports whether that changed its trust.
func (t *trust) check(r *job.Report, rate float64) bool {
	if r.Profile {
		return false
	}
	from, same := t.marked, t.on == r.Configuration
	t.on, t.marked = r.Configuration, r.Progress
	if !same || r.Interval <= 0 || r.StepTime <= 0 || rate <= 0 {
		return false
	}
	before := t.lacking
	if expected := rate * r.Interval.Seconds(); expected > (1+tolerance)*max(0, r.Progress-from) {
		t.lacking = 1 - shrink*(1-t.lacking)
	} else if t.lacking *= 1 - heal; t.lacking < tolerance*tolerance {
		t.lacking = 0
	}
	return t.lacking != before
}

// claimed returns the progress per second of the steps of a report; 0 if it cannot be said,
// as no gradient was measured.
func (j *Job) claimed(r *job.Report) float64 {
	replicas := r.Configuration.GPUs / j.spec.ReplicaGPUs(r.Configuration.GPUType)
	total := float64(replicas * r.Batch.PerReplica())
	step := r.Step()
	if step <= 0 {
		return 0
	}
	rate := total / step.Seconds()
	g := gradient{reports: 1, sqr: r.GradSqr, vari: r.GradVar}
	if g.sqr <= 0 && g.vari <= 0 {
		g = j.present()
	}
	phi := j.noise(g)
	if g.reports == 0 && !math.IsInf(phi, 1) && j.spec.Goal == job.Training && total > float64(j.spec.Batch.Init) {
		return 0
	}
	if math.IsInf(phi, 1) || j.spec.Goal != job.Training {
		return rate
	}
	return rate * perf.Efficiency(phi, float64(j.spec.Batch.Init), total)
}

// doubted returns by what the throughput on replicas is lowered of a job that lacks trust:
// with none it is that of the square root of its replicas, which is how jobs scale of which
// nothing is known.
func doubted(lacking float64, replicas int) float64 {
	if lacking == 0 || replicas < 2 {
		return 1
	}
	return math.Pow(float64(replicas), -lacking/2)
}
