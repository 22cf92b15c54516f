package metrics

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func (r *Recorder) submitted(spec *job.Spec) {
	if r.active[spec.ID] != nil {
		return
	}
	if r.submission.IsZero() {
		r.submission = r.now
		clear(r.gpus.pauseSeconds)
		r.rent.paused, r.lending.paused = payment{}, usage{}
	}
	r.rent.paid.add(&r.rent.paused)
	r.rent.paused = payment{}
	r.lending.used.add(&r.lending.paused, 1)
	r.lending.paused = usage{}
	for i, pause := range r.gpus.pauseSeconds {
		r.gpus.capacitySeconds[i] += pause
		r.gpus.pauseSeconds[i] = 0
	}
	r.active[spec.ID] = &account{
		spec: spec, outcome: Active, submitted: r.now, since: r.now, contention: r.jobSeconds,
	}
}

func (r *Recorder) settle(a *account) {
	from, state := a.since, a.state
	if !a.settle(r.now) {
		return
	}
	next := Interval{
		Start: from.Sub(r.start).Seconds(), End: r.now.Sub(r.start).Seconds(),
		GPUs: int32(a.held.gpus), Type: uint8(a.held.typ), State: state,
	}
	r.streamHeld(a, next)
	if n := len(a.intervals); n > 0 && a.intervals[n-1].continues(next) {
		a.intervals[n-1].End = next.End
		return
	}
	switch {
	case !r.opts.measures(a):
		return
	case r.intervals >= r.opts.MaxIntervals:
		r.dropped++
		return
	}
	r.intervals++
	a.intervals = append(a.intervals, next)
}

func (i Interval) continues(next Interval) bool {
	return i.End == next.Start && i.GPUs == next.GPUs && i.Type == next.Type && i.State == next.State &&
		i.State != Restoring
}

// run assigns other GPUs to a job. A Run that changes only CPUs, memory, batch size or the number of workers is no
// restart.
func (r *Recorder) run(a *account, act *scheduler.Run) {
	next := r.gpus.holding(act)
	if next.gpus == 0 {
		return
	}
	if a.held.gpus > 0 && act.InPlace(a.allocation, a.placement) {
		a.allocation, a.placement = act.Allocation, act.Placement
		return
	}
	r.settle(a)
	if a.held.gpus == 0 {
		r.running++
	}
	switch {
	case a.held.gpus == 0 || a.moves(act):
		r.started(a)
	case act.Resized:
		a.resizes++
	}
	r.free(a)
	r.hold(a, next)
	a.allocation, a.placement = act.Allocation, act.Placement
}

func (a *account) moves(act *scheduler.Run) bool {
	return a.held.gpus > 0 && !act.Free && !act.Resized && !act.InPlace(a.allocation, a.placement)
}

func (r *Recorder) hold(a *account, h holding) {
	r.gpus.busy[h.typ] += h.gpus - h.others
	r.gpus.busy[h.second] += h.others
	r.rent.busy += h.rented
	r.lending.busy += h.loaned
	if h.loaned > 0 {
		r.lending.jobs++
		a.onLoan = true
	}
	a.held = h
}

func (r *Recorder) free(a *account) {
	r.gpus.busy[a.held.typ] -= a.held.gpus - a.held.others
	r.gpus.busy[a.held.second] -= a.held.others
	r.rent.busy -= a.held.rented
	r.lending.busy -= a.held.loaned
	if a.held.loaned > 0 {
		r.lending.jobs--
	}
	a.held = holding{}
}

func (r *Recorder) started(a *account) {
	a.state = Restoring
	if a.firstStarted.IsZero() {
		a.firstStarted = r.now
		return
	}
	a.restarts++
	a.loseWork()
}

func (a *account) loseWork() {
	a.lost += a.atStake()
}

func (a *account) atStake() time.Duration {
	if !a.spec.NoCheckpoint {
		return 0
	}
	return a.useful - a.lost
}

// unchanged handles a report of a job that keeps training. It does not move the clock, so that the rounding of
// integrals does not depend on reports.
func (r *Recorder) unchanged(now time.Time, rep *job.Report) bool {
	a := r.active[rep.Job]
	if a == nil || a.held.gpus == 0 || a.state != Training || rep.Profile {
		return false
	}
	r.lastReport = now
	a.learn(rep)
	return true
}

func (r *Recorder) reported(a *account, rep *job.Report) {
	if rep.Profile {
		r.profiled(a, rep)
		return
	}
	if a.held.gpus == 0 {
		return
	}
	if a.state == Restoring {
		r.settle(a)
		a.state = Training
	}
	a.learn(rep)
}

func (r *Recorder) profiled(a *account, rep *job.Report) {
	typ := r.gpus.typeIndex(rep.Configuration.GPUType)
	used := time.Duration(max(1, rep.Configuration.GPUs)) * max(0, rep.Interval)
	a.spend(typ, used)
	a.profiling += used
	a.joules += r.gpus.watts[typ] * used.Seconds()
	a.cost += r.gpus.price[typ] * used.Hours()
}

func (r *Recorder) release(a *account) {
	r.settle(a)
	if a.held.gpus == 0 {
		return
	}
	a.preemptions++
	a.loseWork()
	r.free(a)
	r.running--
}

func (r *Recorder) exited(a *account, how scheduler.Outcome) {
	if how == scheduler.Lost {
		if a.held.loaned > 0 {
			r.lending.count.Lost++
		}
		r.release(a)
		return
	}
	r.settle(a)
	a.finished = r.now
	a.contention = r.meanContention(a)
	switch how {
	case scheduler.Done:
		a.outcome, a.rho = Done, r.opts.rho(a, r.gpus.cluster)
	case scheduler.Failed:
		a.outcome = Failed
	default:
		a.outcome = Cancelled
	}
	delete(r.active, a.spec.ID)
	if a.held.gpus == 0 {
		r.store(a)
		return
	}
	r.running--
	a.state = Idle
	r.ending = append(r.ending, a)
}

// meanContention returns N_avg: the mean number of active jobs since a was submitted. Source: Sia §3.5.5.
func (r *Recorder) meanContention(a *account) float64 {
	life := r.now.Sub(a.submitted).Seconds()
	if life <= 0 {
		return float64(len(r.active))
	}
	return (r.jobSeconds - a.contention) / life
}

func (o *Options) measures(a *account) bool { return o.Measured == nil || o.Measured(a.spec) }

func (r *Recorder) store(a *account) {
	if !r.opts.measures(a) {
		return
	}
	a.intervals = slices.Clip(a.intervals)
	r.streamJob(a, r.done.add(a.result(r.start, r.now, len(r.gpus.types))))
}
