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

type roundTimes struct {
	planned time.Time // last round with something to plan
	extra   time.Time // time of the next submission round; zero: none
	between bool
	// When the present round began, and when the next one does.
	begun, next time.Time
}

func (t *roundTimes) soon(now time.Time, o *Options) {
	if !o.OnSubmit && o.OnEvent == 0 || !t.extra.IsZero() {
		return
	}
	t.extra = now.Add(settle)
	apart := o.Round / perRound
	if o.OnEvent > 0 {
		apart = o.OnEvent
	}
	if least := t.planned.Add(apart); least.After(t.extra) {
		t.extra = least
	}
}

func (s *Scheduler) changed(now time.Time) {
	if s.o.OnEvent > 0 && !s.settled() {
		s.times.soon(now, &s.o)
	}
}

func (s *Scheduler) settled() bool {
	return s.policy.Traits() == policy.Traits{} && !slices.ContainsFunc(s.active, func(r *record) bool {
		return !r.status.Holding() && !r.status.Phase.Terminal()
	})
}

func (t *roundTimes) due() time.Time {
	if t.extra.IsZero() || !t.extra.Before(t.next) {
		return t.next
	}
	return t.extra
}

// admits reports whether a submission round can start a job: GPUs are free, and no job waits since an earlier round.
func (s *Scheduler) admits() bool {
	s.sweep()
	free := 0
	for _, t := range s.nodes.cluster.Types() {
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
// they hold.
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
