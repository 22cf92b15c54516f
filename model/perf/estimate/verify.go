package estimate

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A job may report false measurements to get more GPUs. Options.Verify bounds what it can gain:
//
//   - No speed-up is more than linear: with more replicas, or on more nodes, a pass takes no
//     less time. Speeds that say otherwise are lowered when models are built: see physical.
//   - Step times are believed only if the job also reports the progress that follows from
//     them. Each report that claims more reduces the trust in the job; trust recovers slowly.
//   - The less a job is trusted, the more its speed-up is lowered to that of a job of which
//     only the speed on one replica is known: see doubted.
//
// A job whose false step times and false progress agree is not detected before it should be
// complete, because its samples are counted only by itself.

const (
	// tolerance is by how much a claim may be above what it is compared with: noise of
	// measurement, and nodes that are better connected within than the model has it.
	tolerance = 0.1
	// shrink is the factor by which a claim that is too high reduces trust, and heal the part
	// of the lacking trust that a correct report restores: half after 14 reports, 7 minutes.
	shrink = 0.5
	heal   = 0.05
)

// physical returns parameters with which several nodes are not faster than one, up to the
// tolerance. Within one kind of network, betas of at least 0 ensure that.
func physical(p perf.Params) perf.Params {
	const most = 1 / (1 + tolerance)
	p.AlphaN = max(p.AlphaN, most*p.AlphaR)
	p.BetaN = max(p.BetaN, most*p.BetaR)
	return p
}

// A trust says how far the reports of a job are believed.
type trust struct {
	lacking float64 // 0: fully believed; 1: not at all
	on      cluster.Configuration
	marked  float64 // progress when what it reports next began to be measured
}

// check compares the progress that a job has reported since its last report with the rate that
// it claims, in progress per second. It reports whether that changed the trust in the job.
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

// claimed returns the progress per second that follows from the step time of a report; 0 if it is
// not known because no gradient was measured.
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

// doubted returns the factor by which the throughput of a job that lacks trust is lowered.
// Without any trust it scales with the square root of the replicas, as do jobs of which nothing
// is known.
func doubted(lacking float64, replicas int) float64 {
	if lacking == 0 || replicas < 2 {
		return 1
	}
	return math.Pow(float64(replicas), -lacking/2)
}
