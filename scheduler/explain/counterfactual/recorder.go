package counterfactual

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// A Decider plans a past round again with a changed snapshot. Every call starts from the same state of the policy. The
// plan is valid and names nodes.
type Decider interface {
	Decide(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error)
}

// A Fresh is a function that makes a policy and a placer with the options of the run, in their initial state.
type Fresh func() (policy.Policy, placement.Placer, error)

// A Recorder wraps a policy so that its last rounds can be planned again with changed snapshots. A policy with
// state must be a policy.Rememberer. At is safe for concurrent use.
type Recorder struct {
	policy.Policy
	// Until, if not zero, is the time of the last round for which At will be called. A copy of the policy's memory is
	// made just before that round, so that At need not repeat rounds. Set it before the first round.
	Until time.Time
	fresh Fresh
	every int

	mu     sync.Mutex
	copies int
	before state
	since  []*policy.Snapshot
}

var _ policy.Policy = (*Recorder)(nil)

// From returns a Decider that starts from the present state of p. fresh makes its placer. Decide returns an error if
// the state of p cannot be copied.
func From(p policy.Policy, fresh Fresh) Decider { return stateOf(p, fresh) }

// Copy returns an independent copy of policy p, and a new placer.
func Copy(p policy.Policy, fresh Fresh) (policy.Policy, placement.Placer, error) {
	return stateOf(p, fresh).copied()
}

type state struct {
	fresh  Fresh
	memory *memory.Image
	err    error
}

func stateOf(p policy.Policy, fresh Fresh) (st state) {
	st.fresh = fresh
	defer func() {
		if r := recover(); r != nil {
			st.err = fmt.Errorf("counterfactual: memory of %T: %v", p, r)
		}
	}()
	of, _ := p.(memory.Rememberer)
	st.memory, st.err = memory.Take(of)
	return st
}

func (st state) copied() (policy.Policy, placement.Placer, error) {
	if st.err != nil {
		return nil, nil, st.err
	}
	p, placer, err := st.fresh()
	if err != nil {
		return nil, nil, fmt.Errorf("counterfactual: %w", err)
	}
	into, _ := p.(memory.Rememberer)
	if err := st.memory.Restore(into); err != nil {
		return nil, nil, fmt.Errorf("counterfactual: %T: %w", p, err)
	}
	return p, placer, nil
}

// NewRecorder returns a Recorder around p. Placements must depend only on snapshot and plan. It copies the policy's
// memory every interval rounds. To plan a round again, it repeats the rounds since the last copy.
func NewRecorder(p policy.Policy, fresh Fresh, interval int) *Recorder {
	return &Recorder{Policy: p, fresh: fresh, every: max(1, interval)}
}

// Plan returns the plan of the wrapped policy. If the policy's state cannot be copied, At returns an error for
// this round.
func (r *Recorder) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	r.keep(s)
	return r.Policy.Plan(ctx, s)
}

func (r *Recorder) keep(s *policy.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := !r.Until.IsZero() && s.Now.Add(s.Length).After(r.Until)
	if len(r.since) == 0 || len(r.since) >= r.every || last {
		r.since, r.copies = nil, r.copies+1
		if r.before = stateOf(r.Policy, r.fresh); r.before.err != nil {
			return
		}
	}
	r.since = append(r.since, s)
}

// At returns the snapshot of the round at time t, and a Decider for it. For a Steady policy, which is not called in
// every round, it returns the snapshot of the last call. At returns an error if the round is older than the last copy,
// or if a later round was requested before. It costs at most one plan for each round since the copy.
func (r *Recorder) At(ctx context.Context, t time.Time) (*policy.Snapshot, Decider, error) {
	r.mu.Lock()
	before, since, copies := r.before, r.since, r.copies
	r.mu.Unlock()
	n := r.shown(since, t)
	if n < 0 {
		return nil, nil, fmt.Errorf("counterfactual: no round at %v that can be decided again", t)
	}
	now, repeated := before, 0
	if n > 0 {
		p, placer, err := before.copied()
		if err != nil {
			return nil, nil, err
		}
		for ; repeated < n && ctx.Err() == nil; repeated++ {
			once(context.WithoutCancel(ctx), p, placer, since[repeated]) //nolint:errcheck // as in the run, a round without a plan is one, too
		}
		if now = stateOf(p, r.fresh); now.err != nil {
			return nil, nil, now.err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.copies == copies { // so that the next call repeats fewer rounds, even if this one was cancelled
		r.before, r.since, r.copies = now, r.since[repeated:], copies+1
	}
	if repeated < n {
		return nil, nil, ctx.Err()
	}
	if s := *since[n]; !s.Now.Equal(t) {
		s.Now = t
		return &s, now, nil
	}
	return since[n], now, nil
}

func (r *Recorder) shown(since []*policy.Snapshot, at time.Time) int {
	for i, s := range slices.Backward(since) {
		if s.Now.Equal(at) || s.Now.Before(at) && r.Traits().Steady {
			return i
		}
	}
	return -1
}

// After returns copies of policy and placer in their state after the round at time t, and the policy's background work,
// which may be nil. It returns the errors of At, and costs one more plan.
func (r *Recorder) After(ctx context.Context, t time.Time) (policy.Policy, placement.Placer, policy.Work, error) {
	s, d, err := r.At(ctx, t)
	if err != nil {
		return nil, nil, nil, err
	}
	p, placer, err := d.(state).copied()
	if err != nil {
		return nil, nil, nil, err
	}
	plan, err := once(ctx, p, placer, s)
	if err != nil {
		return nil, nil, nil, err
	}
	return p, placer, plan.Background, nil
}

// Decide implements Decider. If the plan has background work, Decide completes the work and returns the plan of the
// next round.
func (st state) Decide(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p, placer, err := st.copied()
	if err != nil {
		return nil, err
	}
	plan, err := once(ctx, p, placer, s)
	if err != nil || plan.Background == nil {
		return plan, err
	}
	then := *s
	then.Computed, then.Round, then.Now = plan.Background.Do(ctx), s.Round+1, s.Now.Add(s.Length)
	return once(ctx, p, placer, &then)
}

func once(ctx context.Context, p policy.Policy, placer placement.Placer, s *policy.Snapshot) (plan *policy.Plan, err error) {
	defer func() {
		if r := recover(); r != nil { // a policy that panics has no plan, as in the scheduler
			plan, err = nil, fmt.Errorf("counterfactual: panicked: %v", r)
		}
	}()
	if plan, err = p.Plan(ctx, s); err != nil {
		return nil, err
	}
	policy.FillProportional(s, plan)
	if err := policy.Check(s, plan); err != nil {
		return nil, err
	}
	if plan, err = placer.Place(ctx, s, plan); err != nil {
		return nil, err
	}
	return plan, policy.CheckPlacement(s, plan)
}
