package scheduler

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// diff returns the actions that turn the present state into the plan, those that free GPUs first, and records
// the plan as the present state.
func (s *Scheduler) diff(now time.Time, plan *policy.Plan, asked []int) []Action {
	var acts []Action
	for _, i := range asked {
		r := s.active[i]
		if plan.Jobs[i].Allocation.IsZero() && r.status.Holding() {
			acts = append(acts, Preempt{Job: r.spec.ID})
			r.reckon(now)
			r.release(now)
			r.wait()
			r.row = nil
		}
	}
	for _, i := range asked {
		r := s.active[i]
		if d := &plan.Jobs[i]; !d.Allocation.IsZero() && r.differs(d) {
			acts = append(acts, s.run(now, r, d))
		}
	}
	return acts
}

func (r *record) differs(d *policy.Decision) bool {
	st := &r.status
	return d.Allocation != st.Allocation || !d.Placement.Equal(st.Placement) ||
		d.Batch.Local != 0 && d.Batch != r.batch
}

// run grants a decision to a job. It is a restart if the job has run before and its GPUs change.
func (s *Scheduler) run(now time.Time, r *record, d *policy.Decision) Action {
	st := &r.status
	act := Run{Job: r.spec.ID, Allocation: d.Allocation, Placement: d.Placement, Batch: d.Batch}
	same := act.InPlace(st.Allocation, st.Placement)
	act.Free = s.o.FreeMoves && !same && d.Allocation.Configuration == st.Allocation.Configuration &&
		!d.Allocation.Mixed() && !st.Allocation.Mixed() && d.Placement.SameShape(st.Placement)
	act.Resized = !same && s.resizes(r, &act)
	if !same && !act.Free {
		r.reckon(now)
	}
	r.row, r.batch = nil, d.Batch
	switch {
	case act.Resized:
		r.settle(now)
	case !same && !act.Free:
		r.restart(now)
	}
	st.Allocation, st.Placement = d.Allocation, d.Placement
	return act
}

func (s *Scheduler) resizes(r *record, act *Run) bool {
	if !r.spec.Resizes || !r.status.Holding() {
		return false
	}
	stay := s.nodes.staying(r.status.Placement, act)
	return r.spec.Enough(&stay)
}

// staying returns the GPUs of each type that a job keeps on the same nodes. Its number of nodes is 0.
func (u *supply) staying(held cluster.Placement, act *Run) cluster.Allocation {
	var stay cluster.Allocation
	stay.GPUType, stay.Also.GPUType = act.Allocation.GPUType, act.Allocation.Also.GPUType
	if !act.Allocation.Mixed() {
		stay.GPUs = act.Placement.Common(held)
		return stay
	}
	stay.GPUs = u.cluster.On(act.Placement, stay.GPUType).Common(held)
	stay.Also.GPUs = u.cluster.On(act.Placement, stay.Also.GPUType).Common(held)
	return stay
}

func (r *record) restart(now time.Time) {
	st := &r.status
	if st.FirstStarted.IsZero() {
		st.FirstStarted = now
	} else {
		st.Restarts++
	}
	r.release(now)
	r.forget()
	st.Phase = job.Restoring
}
