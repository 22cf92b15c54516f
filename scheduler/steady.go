package scheduler

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// A steadyRound is a round whose decisions hold for the next round if nothing happens; zero: the next one is planned.
type steadyRound struct {
	snap *policy.Snapshot
	plan *policy.Plan
}

// storeSteady stores a round, unless the next one may differ even if nothing happens. Reasons are actions, evicted
// jobs, rentals, loans, class statistics and background work.
func (s *Scheduler) storeSteady(snap *policy.Snapshot, plan *policy.Plan, acts []Action) {
	if len(acts) > 0 || s.times.between || !s.policy.Traits().Steady || plan.Refused != "" || plan.Background != nil || s.computing {
		return
	}
	if len(snap.Rentals)+len(snap.Loans) > 0 || s.classes != nil || s.o.Known != nil {
		return
	}
	if unplaced(plan) {
		return
	}
	s.steady = steadyRound{snap, plan}
}

func unplaced(plan *policy.Plan) bool {
	return slices.ContainsFunc(plan.Jobs, func(d policy.Decision) bool {
		return d.Why.Kind == policy.Evicted || d.Why.Kind == policy.KeptNoPlace
	})
}

// repeat repeats the last round, if nothing can have changed; nil otherwise. Rows and decisions are shared with
// that round: both are immutable.
func (s *Scheduler) repeat(now time.Time) (*policy.Snapshot, *policy.Plan) {
	if s.steady.plan == nil || s.times.between {
		return nil, nil
	}
	snap := *s.steady.snap
	snap.Now, snap.Round, snap.Computed = now, s.round, nil
	s.round++
	s.times.extra, s.times.planned = time.Time{}, now
	return &snap, s.steady.plan
}
