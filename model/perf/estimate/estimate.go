// Package estimate estimates from the reports of jobs how fast they train: a throughput model per job and GPU
// type, and the statistical efficiency of each job. Source: Sia §3.3.2.
package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A Mode selects how to estimate a job's speed on GPUs on which it has not run.
type Mode uint8

// The modes. Source: Sia §3.5.8, Fig. 3.13.
const (
	// Bootstrap measures each job on one GPU of every type. The growth of speed with GPUs is measured on one type
	// and assumed for the others (Sia Eq. 3.1).
	Bootstrap Mode = iota
	// NoProf measures nothing before the job runs. One replica is assumed to be equally fast on all types; the speed of
	// several replicas is unknown.
	NoProf
	// Oracle uses the true throughput of the simulation. Statistical efficiency is still estimated.
	Oracle
	// PublicCode is the rule of Sia's published simulator, which measures nothing before the job runs. The goodput on
	// an unused GPU type is the goodput on the first used type, times the ratio of one-GPU reference throughputs
	// (Options.Reference).
	PublicCode
)

var modeNames = [...]string{"bootstrap", "no-prof", "oracle", "public-code"}

func (m Mode) String() string { return modeNames[m] }

// ParseMode returns the Mode with a name.
func ParseMode(name string) (Mode, error) {
	for i, n := range modeNames {
		if n == name {
			return Mode(i), nil
		}
	}
	return 0, fmt.Errorf("estimate mode %q, want one of %v", name, modeNames)
}

// A Throughput predicts samples per second, as perf.Model does.
type Throughput func(a cluster.Allocation, b job.BatchSize) float64

// Options configure how performance models are estimated.
type Options struct {
	Mode Mode
	// Types are the cluster's GPU types.
	Types []cluster.TypeInfo
	// Smoothing is the weight of earlier reports in gradient statistics, in [0, 1). Default 0: only the last
	// report counts.
	Smoothing float64
	// Oracle returns the true throughput of a job, for mode Oracle.
	Oracle func(*job.Spec) Throughput
	// Like returns the model that Oracle's throughput comes from; nil for none.
	Like func(*job.Spec) perf.Model
	// Sensitivity returns the true effect of CPUs and memory on a job, for mode Oracle; nil for none.
	Sensitivity func(*job.Spec) *perf.Sensitivity
	// Reference returns the one-GPU reference throughput of a job, for mode PublicCode; 0 if the
	// type cannot run it.
	Reference func(*job.Spec, cluster.GPUType) float64
	// ReferenceFirst makes mode PublicCode use the reference throughput before a job's first run. Default false:
	// unknown.
	ReferenceFirst bool
	// Fits, if not nil, caches fits for all estimators of a run.
	Fits *Cache
	// Share lets the jobs of a class, made by one Pool, share measurements. Default false. Source: BOA §5.3,
	// "Profile Sharing".
	Share bool
	// Error is the size of an artificial error in estimated speeds, see Factor. Default 0. Source: BOA §6.4.
	Error float64
	// Seed is the seed for Error.
	Seed uint64
	// Verify limits the gain of a job from false reports, see verify.go. Default false.
	Verify bool
}

// Validate returns all errors in o, joined.
func (o *Options) Validate() error {
	var errs []error
	if s := o.Smoothing; !(s >= 0 && s < 1) {
		errs = append(errs, fmt.Errorf("smoothing %v, want at least 0 and less than 1", s))
	}
	if !(o.Error >= 0 && o.Error <= mostError) {
		errs = append(errs, fmt.Errorf("error %v, want 0 to %d", o.Error, mostError))
	}
	if o.Mode == PublicCode && (o.Fits == nil || o.Fits.Minimize == nil) {
		errs = append(errs, errors.New("mode public-code without Fits.Minimize, want the public simulator's minimiser: package opt/lbfgsb"))
	}
	return errors.Join(errs...)
}

// A Job estimates from reports how fast one job trains. Make it with New or, to share measurements with other jobs,
// with Pool.New.
type Job struct {
	spec   *job.Spec
	o      *Options
	oracle Throughput
	like   perf.Model // source of oracle; may be nil
	*measured
	epoch  int // last reported
	sqr    float64
	vari   float64
	grads  bool
	input  input
	trust  trust
	own    int    // counts the changes of this job alone: see Version
	model  *Model // result of the last call of Model; nil if nothing was known
	built  Version
	limits *job.BatchLimits
}

type profile struct {
	seen   []perf.Observation
	counts []int
	noted  []float64 // Step of each observation at its last material change
	news   int       // number of new points and of material changes of Step
	multi  int       // observations with more than one replica
	fit    perf.Params
	fresh  bool // fit is of all observations
}

// New returns a Job without measurements. It keeps the pointers spec and o.
func New(spec *job.Spec, o *Options) *Job { return newJob(spec, o, newMeasured(o)) }

// Describe replaces the job's specification. A new initial batch size discards the gradient statistics.
func (j *Job) Describe(spec *job.Spec) {
	if spec.Batch.Init != j.spec.Batch.Init {
		j.sqr, j.vari, j.grads = 0, 0, false
	}
	j.spec = spec
	j.own++
}

func newJob(spec *job.Spec, o *Options, m *measured) *Job {
	j := &Job{spec: spec, o: o, measured: m}
	if o.Mode == Oracle && o.Oracle != nil {
		j.oracle = o.Oracle(spec)
	}
	if j.oracle != nil && o.Like != nil {
		j.like = o.Like(spec)
	}
	if o.Mode == Oracle && o.Sensitivity != nil {
		j.input.known = o.Sensitivity(spec)
	}
	return j
}

// Learn adds the measurements of a report. All values must be finite and not negative.
func (j *Job) Learn(r *job.Report) {
	j.learnGradients(r)
	if j.o.Verify && j.trust.check(r, j.claimed(r)) {
		j.own++
	}
	if r.StepTime <= 0 || r.Batch.Local <= 0 || !j.learnInput(r) {
		return
	}
	i := j.index(r.Configuration.GPUType)
	if i < 0 {
		return
	}
	replicas := r.Configuration.GPUs / j.spec.ReplicaGPUs(r.Configuration.GPUType)
	compute := max(r.StepTime-r.SyncTime, r.StepTime/1000)
	if j.types[i].add(perf.Observation{
		Nodes: r.Configuration.Nodes, Replicas: replicas, Local: r.Batch.Local,
		Compute: compute.Seconds(), Step: r.StepTime.Seconds(),
	}) {
		j.refits++
	}
}

func (j *Job) learnGradients(r *job.Report) {
	j.epoch = r.Epoch
	if r.GradSqr <= 0 && r.GradVar <= 0 {
		return
	}
	j.addGradient(r)
	w := 1 - j.o.Smoothing
	if !j.grads {
		w = 1
	}
	sqr, vari := j.sqr+w*(r.GradSqr-j.sqr), j.vari+w*(r.GradVar-j.vari)
	if sqr != j.sqr || vari != j.vari {
		j.sqr, j.vari, j.grads = sqr, vari, true
		j.own++
	}
}

func (j *Job) index(t cluster.GPUType) int {
	for i := range j.o.Types {
		if j.o.Types[i].Type == t {
			return i
		}
	}
	return -1
}

func (p *profile) add(o perf.Observation) bool {
	for i := range p.seen {
		s := &p.seen[i]
		if s.Nodes != o.Nodes || s.Replicas != o.Replicas || s.Local != o.Local {
			continue
		}
		if s.Compute == o.Compute && s.Step == o.Step {
			return false
		}
		p.counts[i]++
		w := 1 / float64(p.counts[i])
		s.Compute += w * (o.Compute - s.Compute)
		s.Step += w * (o.Step - s.Step)
		p.fresh = false
		if moved(p.noted[i], s.Step) {
			p.noted[i] = s.Step
			p.news++
		}
		return true
	}
	p.seen = append(p.seen, o)
	p.counts = append(p.counts, 1)
	p.noted = append(p.noted, o.Step)
	p.news++
	if o.Replicas > 1 {
		p.multi++
	}
	p.fresh = false
	return true
}

// known reports whether the job's throughput can be estimated.
func (j *Job) known() bool {
	return j.oracle != nil || j.refits > 0 || j.o.ReferenceFirst && j.o.Mode == PublicCode
}

// Model returns the present performance model, nil if nothing is known, and the batch limits to use with it. Both
// are immutable. The pointers change only after new measurements.
func (j *Job) Model() (*Model, *job.BatchLimits) {
	now := j.Version()
	if j.model != nil && j.built == now {
		return j.model, j.limits
	}
	if !j.known() {
		return nil, &j.spec.Batch
	}
	j.model, j.built = j.build(j.noise(j.present())), now
	j.limits = j.borrowedLimits()
	return j.model, j.limits
}

func (j *Job) present() gradient {
	if !j.grads {
		return j.gradientAt(j.epoch)
	}
	return gradient{reports: 1, sqr: j.sqr, vari: j.vari}
}

// noise returns the gradient noise scale (samples); 0 if g is empty, infinite if every batch size
// is equally efficient.
func (j *Job) noise(g gradient) float64 {
	init := j.spec.Batch.Init
	switch {
	case init == 1 && j.spec.Batch.Max <= 1: // each replica processes one sample a pass: no larger batch could be less efficient
		return math.Inf(1)
	case j.spec.Schedule.Mode != job.Unscheduled: // the user chose the batch sizes: each counts with efficiency 1
		return math.Inf(1)
	case g.reports == 0:
		return 0
	case g.sqr <= 0:
		return math.Inf(1)
	}
	return float64(init) * g.vari / g.sqr
}

func (j *Job) build(phi float64) *Model {
	m := &Model{init: float64(j.spec.Batch.Init), goal: j.spec.Goal, oracle: j.oracle, like: j.like, mode: j.o.Mode, phi: phi}
	m.input, m.lacking = j.input.known, j.trust.lacking
	if j.o.Error > 0 {
		m.wrong, m.class = j.o, cmp.Or(string(j.spec.Class), string(j.spec.ID))
	}
	if j.oracle != nil {
		return m
	}
	m.types = make([]typeModel, len(j.types))
	for i := range j.types {
		m.types[i] = j.typeModel(i)
	}
	return m
}

func (j *Job) typeModel(i int) typeModel {
	t := typeModel{name: j.o.Types[i].Type, replica: j.spec.ReplicaGPUs(j.o.Types[i].Type), perNode: j.o.Types[i].PerNode, lender: i, ratio: 1}
	p := &j.types[i]
	if len(p.seen) > 0 {
		t.params, t.known = j.fit(p), true
	}
	if p.multi > 0 || j.o.Mode == PublicCode && t.known {
		return t
	}
	lender := j.lender()
	if lender < 0 && j.o.ReferenceFirst {
		t.reference = j.o.Reference(j.spec, t.name)
	}
	if lender >= 0 && lender != i {
		t.lender = lender
		if j.o.Mode == PublicCode {
			t.ratio, t.known = j.referenceRatio(i, lender), false
		}
	}
	return t
}

func (j *Job) fit(p *profile) perf.Params {
	if !p.fresh {
		p.fit, p.fresh = j.o.Fits.fit(j.o.Mode, p.seen), true
		if j.o.Verify {
			p.fit = physical(p.fit)
		}
	}
	return p.fit
}

// lender returns the index of the type whose scaling the others use: the one with the most multi-GPU
// measurements, or the first measured one; -1: none.
func (j *Job) lender() int {
	best := -1
	for i := range j.types {
		switch p := &j.types[i]; {
		case len(p.seen) == 0:
		case best < 0:
			best = i
		case j.o.Mode != PublicCode && p.multi > j.types[best].multi:
			best = i
		}
	}
	return best
}

func (j *Job) referenceRatio(to, from int) float64 {
	source := j.o.Reference(j.spec, j.o.Types[from].Type)
	if source <= 0 {
		return 0
	}
	return j.o.Reference(j.spec, j.o.Types[to].Type) / source
}

// borrowedLimits returns the spec's batch limits, or the lender's for types that borrow goodput under
// PublicCode.
func (j *Job) borrowedLimits() *job.BatchLimits {
	if j.o.Mode != PublicCode {
		return &j.spec.Batch
	}
	limits := j.spec.Batch
	limits.LocalMax = make(map[cluster.GPUType]int, len(j.types))
	for i, t := range j.model.types {
		limits.LocalMax[j.o.Types[i].Type] = j.spec.Batch.LocalMax[j.o.Types[t.lender].Type]
	}
	return &limits
}
