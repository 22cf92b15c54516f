package estimate

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A job may report false measurements to get more GPUs. Options.Verify limits its gain:
//
//   - No speed-up is more than linear; larger ones are lowered when models are built (physical).
//   - Step times are trusted only if the job also reports the progress that follows from them. Each
//     report that claims more reduces the trust in the job; trust recovers slowly.
//   - Missing trust lowers the job's speed-up, down to the assumption for unmeasured jobs (doubted).
//
// False step times with matching false progress are detected only when the job should be complete.

const (
	// tolerance is the accepted relative excess of a claim, for noise and for fast networks within a node.
	tolerance = 0.1
	// shrink is the factor on trust after an excessive claim, and heal the part of missing trust that a
	// correct report restores: half after 14 reports, 7 minutes.
	shrink = 0.5
	heal   = 0.05
)

// physical raises parameters so that several nodes are not faster than one, up to the tolerance.
func physical(p perf.Params) perf.Params {
	const most = 1 / (1 + tolerance)
	p.AlphaN = max(p.AlphaN, most*p.AlphaR)
	p.BetaN = max(p.BetaN, most*p.BetaR)
	return p
}

type trust struct {
	lacking float64 // missing trust. 0: full trust; 1: none
	on      cluster.Configuration
	marked  float64 // progress at the start of the current measurement
}

// check compares the progress since the last report with the claimed rate, and reports whether the trust
// changed.
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

// doubted returns the factor on throughput for missing trust. Without trust, throughput grows with the square
// root of the replicas, as for unknown jobs.
func doubted(lacking float64, replicas int) float64 {
	if lacking == 0 || replicas < 2 {
		return 1
	}
	return math.Pow(float64(replicas), -lacking/2)
}

// publicTolerance is the tolerance of the public fit. With kinks in the loss it stops the search early, which
// is part of the public simulator's behaviour: parameters that did not move stay at the start.
const publicTolerance = 1e-5

var publicStart = vector{0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001}

// A Minimizer searches for a minimum of f between low and high, starting from x. f writes its gradient to grad. The
// search stops when the decrease of f or its gradient is below tolerance. On return, x holds the final point.
type Minimizer func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64)

// A publicFitter fits the throughput model exactly as Sia's published simulator does, to reproduce its results.
// Minimize must be set. It is not safe for concurrent use.
type publicFitter struct {
	Minimize Minimizer // minimiser of the public simulator: package opt/lbfgsb

	points []point
	state  state
	loss   func(x, grad []float64) float64 // f.objective
	x      vector
	box    box
}

// Fit returns the parameters that the optimiser of Sia's public simulator finds (L-BFGS-B with its start and
// tolerance), and their Loss. Where the loss has kinks, the result may depend on rounding. It panics without
// observations or Minimize. Source: Pollux §4.1.
func (f *publicFitter) Fit(obs []perf.Observation) (perf.Params, float64) {
	if len(obs) == 0 {
		panic(noObservations)
	}
	f.load(obs)
	f.Minimize(f.x[:], f.box.low[:], f.box.high[:], f.loss, publicTolerance)
	p := f.x.params()
	if f.box.pinned(alphaN) {
		p.AlphaN = max(p.AlphaN, networkPrior*p.AlphaR)
		p.BetaN = max(p.BetaN, networkPrior*p.BetaR)
	}
	return p, fitLoss(obs, &p)
}

func (f *publicFitter) load(obs []perf.Observation) {
	if f.loss == nil {
		f.loss = f.objective
	}
	n := len(obs)
	if cap(f.points) < n {
		f.points, f.state.terms = make([]point, n), make([]term, n)
	}
	f.points, f.state.terms = f.points[:n], f.state.terms[:n]
	for i := range obs {
		f.points[i] = toPoint(&obs[i])
	}
	f.box, f.x = limits(obs), publicStart
	f.box.project(&f.x)
}

func (f *publicFitter) objective(x, grad []float64) float64 {
	s := &f.state
	s.x = vector(x)
	evaluate(f.points, 0, s)
	var us, vs vector
	for i := range f.points {
		p, t := &f.points[i], &s.terms[i]
		r := row{t, pair{t.perAcc, t.perAcc * p.local}, pair{t.perNet, t.perNet * p.peers}, p.network}
		us.add(alphaC, t.u, &r.a)
		vs.chain(t.v, &r)
	}
	n := float64(len(f.points))
	wu, wv := inverse(n*s.rmsU), inverse(n*s.rmsV)
	for i := range dims {
		grad[i] = wu*us[i] + wv*vs[i]
	}
	grad[gamma] += 2 * overlapPrior * (x[gamma] - 1)
	for _, k := range [2]int{alphaN, alphaR} {
		ratio := x[k+1] / x[k]
		grad[k] -= 2 * growthPrior * ratio * ratio / x[k]
		grad[k+1] += 2 * growthPrior * ratio / x[k]
	}
	return s.value
}

func inverse(x float64) float64 {
	if x == 0 {
		return 0
	}
	return 1 / x
}
