package scheduler

import (
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// diff returns the actions that turn what is into the plan, those that free
// GPUs first, and takes the plan for done.
func (s *Scheduler) diff(now time.Time, plan *policy.Plan) []Action {
	var acts []Action
	for i, r := range s.active {
		if plan.Jobs[i].Allocation.IsZero() && r.status.Holding() {
			acts = append(acts, Preempt{Job: r.spec.ID})
			r.release(now)
			r.wait()
			r.row = nil
		}
	}
	for i, r := range s.active {
		if d := &plan.Jobs[i]; !d.Allocation.IsZero() && s.differs(r, d) {
			acts = append(acts, s.run(now, r, d))
		}
	}
	return acts
}

// differs reports whether a granted decision is not what the job already has.
func (s *Scheduler) differs(r *record, d *policy.Decision) bool {
	st := &r.status
	return d.Allocation != st.Allocation || !d.Placement.Equal(st.Placement) ||
		d.Batch.Local != 0 && d.Batch != r.batch
}

// run grants a decision to a job. It counts as a restart if the job has run
// before and does not go on where it is: other CPUs and memory on the same GPUs
// are no restart.
func (s *Scheduler) run(now time.Time, r *record, d *policy.Decision) Action {
	st := &r.status
	act := Run{Job: r.spec.ID, Allocation: d.Allocation, Placement: d.Placement, Batch: d.Batch}
	same := act.InPlace(st.Allocation, st.Placement)
	act.Free = s.o.FreeMoves && !same && d.Allocation.Configuration == st.Allocation.Configuration && d.Placement.SameShape(st.Placement)
	act.Resized = !same && r.resizes(&act)
	r.row, r.batch = nil, d.Batch
	switch {
	case act.Resized:
		r.settle(now)
	case !same && !act.Free:
		s.restart(now, r)
	}
	st.Allocation, st.Placement = d.Allocation, d.Placement
	return act
}

// resizes reports whether a job trains on where enough of its workers stay.
func (r *record) resizes(act *Run) bool {
	st := &r.status
	return r.spec.Resizes && st.Holding() && act.Allocation.GPUType == st.Allocation.GPUType &&
		act.Placement.Common(st.Placement) >= r.spec.Min(act.Allocation.GPUType)
}

func (s *Scheduler) restart(now time.Time, r *record) {
	st := &r.status
	if st.FirstStarted.IsZero() {
		st.FirstStarted = now
	} else {
		st.Restarts++
	}
	r.release(now)
	st.Phase = job.Restoring
}
