package schedulertest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// An Auditor is a scheduler.Observer that checks the events and rounds of a run:
//
//  1. Time never goes back.
//  2. No GPU is held twice.
//  3. A gang is all or nothing: a job gets a number of GPUs that it accepts, of
//     one type, and its measurements since its last Run are from these GPUs.
//  4. A non-preemptive job keeps its GPUs until it exits.
//  5. A reservation is held exactly. It waits only while its job is profiled,
//     while other reservations and non-preemptive jobs leave no room, without a
//     placement, or in a round whose plan was refused.
//  6. A job is submitted once and ends once, and nothing happens to it before
//     or after.
//  7. Progress falls only after a loss, and not below the last checkpoint.
//  8. A round's snapshot shows the present state, and its actions turn that into
//     the plan.
//  9. At most one background work is under way, and its result is in the snapshot of
//     the next round only.
//  10. No more nodes are rented or borrowed than are offered. Returned nodes
//     were rented or lent, and no job is on them.
//
// Make one with Audit; Err and End return its findings.
type Auditor struct {
	// Checkpoint is the maximum time between two checkpoints of a running job. 0: one checkpoint at the end of
	// every epoch.
	Checkpoint time.Duration

	now      time.Time
	jobs     map[job.ID]*audited
	thinks   bool
	computed bool // its result was not in a snapshot yet
	errs     []error
}

type audited struct {
	spec       *job.Spec
	over       bool
	allocation cluster.Allocation
	placement  cluster.Placement
	since      time.Time
	ran        time.Time
	used       time.Duration // GPU time before since
	memory     memory
}

func (j *audited) holding() bool { return j.allocation.GPUs > 0 }

func (j *audited) save() {
	if j.memory.checkpoint(); j.spec.NoCheckpoint {
		j.memory = memory{}
	}
}

func (j *audited) hold(now time.Time, a cluster.Allocation, p cluster.Placement) {
	j.used += time.Duration(j.allocation.AllGPUs()) * now.Sub(j.since)
	j.since, j.allocation, j.placement = now, a, p
}

// Audit returns an Auditor that has seen no event.
func Audit() *Auditor { return &Auditor{jobs: make(map[job.ID]*audited)} }

// Err returns the first broken rules, joined, or nil.
func (a *Auditor) Err() error { return errors.Join(a.errs...) }

// End returns the errors of Err and, after the run, an error for each job that has not ended.
func (a *Auditor) End() error {
	var left []job.ID
	for id, j := range a.jobs {
		if !j.over {
			left = append(left, id)
		}
	}
	slices.Sort(left)
	errs := slices.Clone(a.errs)
	for _, id := range left[:min(len(left), maxComplaints)] {
		errs = append(errs, fmt.Errorf("job %s: the run is over, want it to have ended", id))
	}
	return errors.Join(errs...)
}

// Held returns the GPU time that job id has used until now.
func (a *Auditor) Held(id job.ID) time.Duration {
	j := a.jobs[id]
	if j == nil {
		return 0
	}
	return j.used + time.Duration(j.allocation.AllGPUs())*a.now.Sub(j.since)
}

func (a *Auditor) complain(format string, args ...any) {
	if len(a.errs) < maxComplaints {
		at := fmt.Errorf("%v: %w", a.now.Format(time.RFC3339Nano), fmt.Errorf(format, args...))
		a.errs = append(a.errs, at)
	}
}

func (a *Auditor) advance(now time.Time) {
	if now.Before(a.now) {
		a.complain("time went back to %v", now)
	}
	a.now = now
}

// Event implements scheduler.Observer.
func (a *Auditor) Event(now time.Time, ev scheduler.Event) {
	a.advance(now)
	switch ev := ev.(type) {
	case scheduler.Submitted:
		if a.jobs[ev.Spec.ID] != nil {
			a.complain("job %s: submitted twice", ev.Spec.ID)
		}
		a.jobs[ev.Spec.ID] = &audited{spec: ev.Spec, since: now}
	case scheduler.Described:
		if j := a.live(ev.Spec.ID, ev); j != nil {
			j.spec = ev.Spec
		}
	case scheduler.Restored:
		if a.jobs[ev.Spec.ID] != nil {
			a.complain("job %s: restored, and known already", ev.Spec.ID)
		}
		a.jobs[ev.Spec.ID] = &audited{spec: ev.Spec, since: now, over: ev.Status.Phase.Terminal(), allocation: ev.Status.Allocation, placement: ev.Status.Placement}
	case scheduler.Profiled:
		a.live(ev.Job, ev)
	case scheduler.Reported:
		if j := a.live(ev.Job, ev); j != nil && !ev.Profile {
			a.reported(j, &ev.Report)
		}
	case scheduler.Exited:
		if j := a.live(ev.Job, ev); j != nil {
			a.exited(j, ev.Outcome)
		}
	case scheduler.NodesChanged: // checked by the next round
	case scheduler.Computed:
		if !a.thinks {
			a.complain("%T, want none while no background work is under way", ev)
		}
		a.thinks, a.computed = false, ev.Result != nil
	}
}

func (a *Auditor) live(id job.ID, what any) *audited {
	switch j := a.jobs[id]; {
	case j == nil:
		a.complain("job %s: %T before it was submitted", id, what)
	case j.over:
		a.complain("job %s: %T after it ended", id, what)
	default:
		return j
	}
	return nil
}

func (a *Auditor) exited(j *audited, how scheduler.Outcome) {
	j.hold(a.now, cluster.Allocation{}, nil)
	if how == scheduler.Lost {
		if j.memory.lose(a.now, a.Checkpoint); j.spec.NoCheckpoint {
			j.memory = memory{}
		}
		return
	}
	j.over = true
}

func (a *Auditor) reported(j *audited, r *job.Report) {
	if r.Configuration != j.allocation.Configuration {
		a.complain("job %s: measured on %v, want what it holds, %v", j.spec.ID, r.Configuration, j.allocation.Configuration)
	}
	if since := a.now.Sub(j.ran); since > 0 && r.Interval > since { // at 0 the report may be from before
		a.complain("job %s: measured over %v, want at most the %v since its last Run", j.spec.ID, r.Interval, since)
	}
	if least := j.memory.least; fallen(r.Progress, least) {
		a.complain("job %s: progress %v, want at least %v", j.spec.ID, r.Progress, least)
	}
	j.memory.learn(a.now, a.Checkpoint, r)
}

// Round implements scheduler.Observer.
func (a *Auditor) Round(s *policy.Snapshot, p *policy.Plan, actions []scheduler.Action) {
	a.advance(s.Now)
	a.shown(s)
	a.act(actions)
	a.rent(s, actions)
	a.capacity(s)
	if p == nil {
		return
	}
	a.planned(s, p)
	if p.Refused == "" {
		a.reservations(s, p)
	}
}
