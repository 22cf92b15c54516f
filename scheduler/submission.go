package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// settle is how long a submission round waits for more submissions, so that jobs submitted in a row are planned
// together.
const settle = 500 * time.Millisecond

const perRound = 20

func (s *Scheduler) soon(now time.Time) {
	if !s.o.OnSubmit && s.o.OnEvent == 0 || !s.extra.IsZero() {
		return
	}
	s.extra = now.Add(settle)
	apart := s.o.Round / perRound
	if s.o.OnEvent > 0 {
		apart = s.o.OnEvent
	}
	if least := s.planned.Add(apart); least.After(s.extra) {
		s.extra = least
	}
}

func (s *Scheduler) changed(now time.Time) {
	if s.o.OnEvent > 0 && !s.settled() {
		s.soon(now)
	}
}

// settled reports whether a round would change nothing: no job waits, and the policy uses only what was
// submitted. Only for rounds on events.
func (s *Scheduler) settled() bool {
	return s.policy.Traits() == policy.Traits{} && !slices.ContainsFunc(s.active, func(r *record) bool {
		return !r.status.Holding() && !r.status.Phase.Terminal()
	})
}

func (s *Scheduler) due(next time.Time) time.Time {
	if s.extra.IsZero() || !s.extra.Before(next) {
		return next
	}
	return s.extra
}

// admits reports whether a submission round can start a job: GPUs are free, and no job waits that an earlier
// round left waiting, which would lose them.
func (s *Scheduler) admits() bool {
	s.sweep()
	free := 0
	for _, t := range s.cluster.Types() {
		free += t.GPUs
	}
	for _, r := range s.active {
		if r.decided && !r.status.Holding() {
			return false
		}
		free -= r.status.Allocation.AllGPUs()
	}
	return free > 0
}

// pinned returns the snapshot in which every job that holds GPUs is non-preemptive. Unchanged rows keep their
// pointers.
func (s *Scheduler) pinned(snap *policy.Snapshot) *policy.Snapshot {
	own := *snap
	own.Jobs = slices.Clone(snap.Jobs)
	for i, r := range s.active {
		if j := snap.Jobs[i]; j.Holding() && !j.NonPreemptive {
			if r.pinned == nil {
				r.pinned = j.Pinned()
			}
			own.Jobs[i] = r.pinned
		}
	}
	return &own
}

// keep plans for a submission round. Jobs that hold GPUs are non-preemptive, so a valid plan leaves them what
// they hold. Their reasons stay the same.
func (s *Scheduler) keep(ctx context.Context, snap *policy.Snapshot) (*policy.Plan, error) {
	plan, err := s.plan(ctx, s.pinned(snap))
	if err != nil {
		return nil, err
	}
	for i, r := range s.active {
		if !r.status.Holding() {
			continue
		}
		d := &plan.Jobs[i]
		if d.Batch, d.Why = r.batch, r.why; !r.decided {
			d.Why = policy.Reason{Kind: policy.AsPlanned}
		}
	}
	return plan, nil
}
