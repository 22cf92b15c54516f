package jobstate

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/jobadapter"
)

// Times has the times at which parts of a job's state last changed.
type Times struct {
	Since      time.Time // of the decision to start it; zero: this leader found its pods
	Begun      time.Time // approximate time of its start
	Queued     time.Time // start of its wait for Kueue; zero: none
	UpSince    time.Time // start of the time in which all its pods run; zero: they do not
	Ending     time.Time // first known success of a worker; zero: none
	CompleteAt time.Time // last time with all its pods, or before its start
	AskedAt    time.Time // last read of its events for missing pods
	StaleSince time.Time // zero: the watches have the last write
	PlacedAt   time.Time // last time a planned pod was created or got its node, or before its start
	placed     int       // pods created, plus pods with a node
}

// Ended reports whether a job has ended for good.
func (e *Job) Ended() bool { return e.Phase == ended }

// Stale reports whether the watches lack the last write to the job.
func (e *Job) Stale() bool { return !e.StaleSince.IsZero() }

// Restored reports whether the job's pods already existed when this leader took over.
func (e *Job) Restored() bool { return e.Since.IsZero() }

// Move applies event ev to the job's phase.
func (e *Job) Move(ev event) {
	var f facts
	if e.Held.GPUs > 0 {
		f = holds
	}
	e.Phase, _ = next(e.Phase, ev, f)
}

// Look returns the job's current phase and the action to take, from plan and observation.
func (e *Job) Look(now time.Time) (Phase, Action) {
	return next(e.Phase, Look, e.facts(now))
}

func (e *Job) facts(now time.Time) (f facts) {
	if e.Stale() {
		return unseen
	}
	j, runs, lasting := e.Parsed, e.Running(), e.Outlived(now)
	resizes := runs && j.Workers != e.Workers() && e.Done() == 0 // after a success the job is ending
	for _, x := range [...]struct {
		fact facts
		is   bool
	}{
		{holds, e.Wants()},
		{Planned, e.Wants() && j.Generation == e.Held.Generation},
		{Started, e.Started()},
		{Runs, runs},
		{suspended, j.Suspended},
		{leftover, j.Stopping || slices.ContainsFunc(e.Pods, func(p *corev1.Pod) bool { return !Terminal(p) && !e.Present(p) })},
		{late, e.Late != nil},
		{fits, e.Wants() && slices.Equal(e.Late, e.Held.Placement)},
		{mayEnd, e.endsSoon(now)},
		{outlived, lasting > 0 && j.Workers > lasting},
		{lacking, e.Lacks(now)},
		{evicted, j.Kueue && j.Suspended && e.Readmitted != e.Held.Generation},
		{tooLong, resizes && j.Workers > e.Workers()},
		{tooFew, resizes && j.Workers < e.Workers()},
		{up, e.Up()},
		{failed, e.Trouble != ""},
		{waits, now.Before(e.NotBefore)},
	} {
		if x.is {
			f |= x.fact
		}
	}
	return f
}

// Up reports whether all planned workers run or have succeeded.
func (e *Job) Up() bool { return e.Ready() >= e.Workers() }

// Ready counts the planned workers that run, and all that have succeeded.
func (e *Job) Ready() int {
	n := e.Done()
	for _, p := range e.Pods {
		if e.Present(p) && Ready(p) {
			n++
		}
	}
	return n
}

// Clock updates the Times of a job.
func (e *Job) Clock(now time.Time) {
	started, admitted := e.Started(), e.Started() && !e.Parsed.Suspended
	if !admitted {
		e.Begun = now
	}
	if !admitted || e.Made() >= e.Workers() {
		e.CompleteAt = now
	}
	e.clockPlaced(admitted, now)
	setSince(&e.Queued, started && (!admitted || e.AwaitQuota() > 0), now)
	setSince(&e.UpSince, admitted && e.Up(), now)
}

func setSince(t *time.Time, so bool, now time.Time) {
	switch {
	case !so:
		*t = time.Time{}
	case t.IsZero():
		*t = now
	}
}

// AwaitQuota returns how many planned pods wait for quota in Kueue.
func (e *Job) AwaitQuota() (n int) {
	for _, p := range e.Live() {
		if e.Present(p) && jobadapter.AwaitsQuota(p) {
			n++
		}
	}
	return n
}
