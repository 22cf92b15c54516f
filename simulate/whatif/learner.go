package whatif

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A Measured has the measurements of a job that its performance model lacks.
type Measured struct {
	// Pace is the real progress divided by the progress that follows from reported step times; 0: not measured.
	Pace float64
	// Delay is the mean time from the decision to start the job to its first step, over Delays starts. If Delays
	// is 0, use the job's specification.
	Delay  time.Duration
	Delays int
	// Asked is the last batch size that the scheduler requested; zero: the agent decides.
	Asked job.BatchSize
	// Model is the speed estimated from reports of the job and its class; nil: use the scheduler's model.
	Model  perf.Model
	pieces []piece
	// remaining is the GPU time, in seconds, by the durations of its class; 0: not known.
	remaining float64
}

const (
	unpaced  = 60.0 // seconds of training at pace 1 that are assumed before the first measured ones
	mostPace = 10.0 // the largest pace of one report: a larger one is an error of the agent
)

// A Learner is a scheduler.Observer that measures what a simulation of the same run needs, such as the duration of
// starts. It drops jobs that have ended.
type Learner struct {
	o       estimate.Options
	pool    *estimate.Pool
	keep    bool // keep ended jobs, and the fields below marked with keep; for Compare
	jobs    map[job.ID]*learned
	classes map[job.Class]*class
	order   []*learned // by arrival; with keep
	now     time.Time
	came    submissions
	lost    int
}

type learned struct {
	spec      *job.Spec
	submitted *job.Spec // before its program described it; nil: it was restored
	belief    *estimate.Job
	restored  *scheduler.Restored // nil: it was submitted
	came      time.Time           // when it was submitted or restored in this run
	since     time.Time
	ended     time.Time
	outcome   scheduler.Outcome // if it has ended
	held      cluster.Allocation
	on        cluster.Placement
	ran       time.Time // when it last got GPUs; after its first report, when it began to train
	starting  bool      // no report since it got GPUs
	used      float64   // GPU-seconds from the end of each start to the loss of its GPUs; see release
	saved     float64   // part of used up to its last checkpoint
	asked     job.BatchSize
	delay     time.Duration // of all starts together
	delays    int
	each      []time.Duration // delay of each start; with keep
	where     cluster.Configuration
	progress  float64
	counted   struct { // the last report with an interval; reports of a new epoch have none
		progress float64
		epoch    int
	}
	trained    float64 // seconds of its progress by reported step times
	took       float64 // real seconds of its progress
	pieces     []piece
	every      []time.Duration        // intervals of reports; with keep
	profile    []workload.Measurement // with keep
	lastReport time.Time
	rate       float64       // progress per second, by the last report
	tail       time.Duration // from its last report to its completion
}

type piece struct {
	epoch, reports int
	first, last    float64
	end            float64 // progress at which it ended; 0: not known
	sqr, vari      float64
}

// NewLearner returns a Learner without measurements. o has the observed scheduler's estimate options, with the GPU
// types of its cluster.
func NewLearner(o estimate.Options) *Learner {
	l := &Learner{o: o, jobs: make(map[job.ID]*learned), classes: make(map[job.Class]*class)}
	l.pool = estimate.NewPool(&l.o)
	return l
}

// Event implements scheduler.Observer.
func (l *Learner) Event(now time.Time, ev scheduler.Event) {
	l.now = now
	switch ev := ev.(type) {
	case scheduler.Submitted:
		l.enter(&learned{spec: ev.Spec, submitted: ev.Spec, came: now, since: now})
		l.came.came(now)
	case scheduler.Restored:
		l.restore(now, &ev)
	case scheduler.Profiled:
		if j := l.jobs[ev.Job]; j != nil {
			l.of(j).profiled(now.Sub(j.came))
		}
	case scheduler.Described:
		if j := l.jobs[ev.Spec.ID]; j != nil {
			j.spec = ev.Spec
			j.belief.Describe(ev.Spec)
		}
	case scheduler.Reported:
		if j := l.jobs[ev.Job]; j != nil {
			l.report(now, j, &ev.Report)
		}
	case scheduler.Exited:
		l.exit(now, &ev)
	}
}

// Round implements scheduler.Observer.
func (l *Learner) Round(s *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) {
	l.acted(s.Now, acts)
}

func (l *Learner) enter(j *learned) {
	j.belief = l.pool.New(j.spec)
	l.jobs[j.spec.ID] = j
	if l.keep {
		l.order = append(l.order, j)
	}
}

func (l *Learner) restore(now time.Time, ev *scheduler.Restored) {
	j := &learned{spec: ev.Spec, restored: ev, came: now, since: ev.Status.Submitted, asked: ev.Batch}
	l.enter(j)
	j.held, j.on, j.ran = ev.Status.Allocation, ev.Status.Placement, now
	for i := range ev.Reports {
		j.learn(&ev.Reports[i])
	}
	if ev.Status.Phase.Terminal() {
		delete(l.jobs, ev.Spec.ID)
		l.order = slices.DeleteFunc(l.order, func(o *learned) bool { return o == j })
	}
}

func (l *Learner) acted(now time.Time, acts []scheduler.Action) {
	l.now = now
	for _, a := range acts {
		switch a := a.(type) {
		case scheduler.Preempt:
			if j := l.jobs[a.Job]; j != nil {
				j.interrupt(now)
			}
		case scheduler.Run:
			if j := l.jobs[a.Job]; j != nil {
				j.run(now, &a)
			}
		}
	}
}

func (j *learned) run(now time.Time, a *scheduler.Run) {
	j.asked = a.Batch
	continues := a.InPlace(j.held, j.on) || a.Free || a.Resized
	switch {
	case a.Resized:
		j.release(now)
	case !continues:
		j.interrupt(now)
	}
	j.held, j.on = a.Allocation, a.Placement
	if continues {
		j.ran = cmp.Or(j.ran, now)
		return
	}
	j.ran, j.starting = now, true
}

func (j *learned) release(now time.Time) {
	j.used = j.usedUntil(now)
	j.held, j.on, j.starting, j.ran = cluster.Allocation{}, nil, false, now
}

func (j *learned) interrupt(now time.Time) {
	j.release(now)
	if j.spec.NoCheckpoint {
		j.used = 0
	}
	j.saved = j.used
}

func (j *learned) lose(now time.Time) {
	j.release(now)
	j.used = j.saved
}

// usedUntil returns the GPU-seconds of the job's training up to now. A start of unknown length counts as
// workload.DefaultRestartDelay.
func (j *learned) usedUntil(now time.Time) float64 {
	if j.held.IsZero() {
		return j.used
	}
	training := now.Sub(j.ran)
	if j.starting {
		training -= workload.DefaultRestartDelay
	}
	return j.used + float64(j.held.AllGPUs())*max(0, training.Seconds())
}

func (l *Learner) exit(now time.Time, ev *scheduler.Exited) {
	j := l.jobs[ev.Job]
	if j == nil {
		return
	}
	if ev.Outcome == scheduler.Lost {
		j.lose(now)
		l.lost++
		return
	}
	j.release(now)
	j.ended, j.outcome = now, ev.Outcome
	if ev.Outcome == scheduler.Done && !j.lastReport.IsZero() {
		j.tail = now.Sub(j.lastReport)
	}
	if c := l.of(j); c != nil && ev.Outcome == scheduler.Done {
		c.completed(j)
	}
	delete(l.jobs, ev.Job)
}

func (l *Learner) report(now time.Time, j *learned, r *job.Report) {
	c := l.of(j)
	if !r.Profile && r.Configuration == j.held.Configuration && j.starting {
		l.started(j, c, max(0, now.Sub(j.ran)-r.Interval))
	}
	if r.Interval == 0 && !r.Profile {
		j.begin(r)
	}
	made := r.Progress - j.counted.progress
	if made > 0 && r.Interval > 0 {
		j.rate = made / r.Interval.Seconds()
	}
	compares := !r.Profile && r.Configuration == j.where && r.Interval > 0 && r.StepTime > 0 && made > 0
	if compares && j.counted.epoch == r.Epoch {
		j.keepPace(r, made)
	} else if compares {
		j.turn(r, made)
	}
	if !r.Profile {
		l.progressed(now, j, r)
	} else if l.keep && j.restored == nil {
		j.profile = append(j.profile, workload.Measurement{After: now.Sub(j.came), Report: *r})
	}
	j.learn(r)
	if c != nil {
		c.progressed(j)
	}
}

func (l *Learner) started(j *learned, c *class, took time.Duration) {
	j.starting = false
	j.delay, j.delays, j.ran = j.delay+took, j.delays+1, j.ran.Add(took)
	if c != nil {
		c.delay, c.delays = c.delay+took, c.delays+1
	}
	if l.keep && j.restored == nil {
		j.each = append(j.each, took)
	}
}

func (l *Learner) progressed(now time.Time, j *learned, r *job.Report) {
	j.where, j.progress, j.lastReport = r.Configuration, r.Progress, now
	if r.Interval <= 0 {
		return
	}
	j.counted.progress, j.counted.epoch = r.Progress, r.Epoch
	if l.keep {
		j.every = append(j.every, r.Interval)
	}
}

// begin records a report without an interval: the job has started, perhaps from an older checkpoint, or an
// epoch begins.
func (j *learned) begin(r *job.Report) {
	if r.Epoch <= j.counted.epoch {
		j.counted.progress, j.counted.epoch = r.Progress, r.Epoch
		return
	}
	if n := len(j.pieces); n > 0 && j.pieces[n-1].epoch == r.Epoch-1 {
		j.pieces[n-1].end = r.Progress
	}
}

func (j *learned) keepPace(r *job.Report, made float64) {
	if rate := stated(j.spec, r); rate > 0 {
		j.trained += min(made/rate, mostPace*r.Interval.Seconds())
		j.took += r.Interval.Seconds()
	}
}

// turn computes the progress at which the last epoch ended, if others began between two reports.
func (j *learned) turn(r *job.Report, made float64) {
	n := len(j.pieces)
	if n == 0 || j.pieces[n-1].epoch != j.counted.epoch || r.Epoch <= j.counted.epoch {
		return
	}
	p := &j.pieces[n-1]
	then := *r
	then.GradSqr, then.GradVar = p.sqr, p.vari
	before, after := stated(j.spec, &then), stated(j.spec, r)
	old := (made - after*r.Interval.Seconds()) / (before - after) // seconds at the rate of the epoch that ended
	if old > 0 && old < r.Interval.Seconds() {
		p.end = r.Progress - made + before*old
	}
}

func (j *learned) pace() float64 {
	if j.took == 0 {
		return 0
	}
	return (unpaced + j.trained) / (unpaced + j.took)
}

func replicas(s *job.Spec, r *job.Report) int {
	return r.Configuration.GPUs / s.ReplicaGPUs(r.Configuration.GPUType)
}

// stated returns the progress per second that follows from the step time and the gradient statistics of a
// report.
func stated(s *job.Spec, r *job.Report) float64 {
	total := float64(replicas(s, r) * r.Batch.PerReplica())
	step := r.Step()
	init := float64(s.Batch.Init)
	if s.Goal != job.Training || s.Schedule.Mode != job.Unscheduled || r.GradSqr <= 0 || init <= 1 && s.Batch.Max <= 1 {
		return total / step.Seconds()
	}
	return total / step.Seconds() * perf.Efficiency(init*r.GradVar/r.GradSqr, init, total)
}

func (j *learned) learn(r *job.Report) {
	j.belief.Learn(r)
	if r.Profile || r.GradSqr <= 0 && r.GradVar <= 0 {
		return
	}
	i, found := slices.BinarySearchFunc(j.pieces, r.Epoch, func(p piece, epoch int) int { return cmp.Compare(p.epoch, epoch) })
	if !found {
		j.pieces = slices.Insert(j.pieces, i, piece{epoch: r.Epoch, first: r.Progress})
	}
	p := &j.pieces[i]
	p.reports++
	w := 1 / float64(p.reports)
	p.last = max(p.last, r.Progress)
	p.sqr += w * (r.GradSqr - p.sqr)
	p.vari += w * (r.GradVar - p.vari)
}

// Measured returns the measurements of the jobs that have not ended.
func (l *Learner) Measured() map[job.ID]Measured {
	all := make(map[job.ID]Measured, len(l.jobs))
	for id, j := range l.jobs {
		c := l.of(j)
		m := j.measured()
		if m.Delays == 0 {
			m.Delay = c.usual()
		}
		if model, _ := j.belief.Model(); model != nil {
			m.Model = model
		}
		m.pieces, m.remaining = c.coming(j), c.remaining(j.usedUntil(l.now))
		all[id] = m
	}
	return all
}

func (j *learned) measured() Measured {
	m := Measured{Pace: j.pace(), Delays: j.delays, Asked: j.asked}
	if j.delays > 0 {
		m.Delay = j.delay / time.Duration(j.delays)
	}
	return m
}

// Between returns the expected time between submissions, or 0 if none is expected. It grows while no job is submitted.
func (l *Learner) Between(now time.Time) time.Duration { return l.came.between(now) }
