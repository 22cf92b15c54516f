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

// A Decider decides a round again, with a snapshot that was changed. It is in the same state in
// each call. The plan is placed and keeps the rules; an error means that there is none.
type Decider interface {
	Decide(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error)
}

// Fresh makes another policy and placer, the same way as those of the run.
type Fresh func() (policy.Policy, placement.Placer, error)

// A Recorder is a policy that can decide its last rounds again. It decides what the policy does,
// which must be a policy.Rememberer if its plans depend on earlier rounds. At is safe for concurrent use.
type Recorder struct {
	policy.Policy
	fresh Fresh
	every int

	mu     sync.Mutex
	copies int                // so far
	before state              // of the first of since
	since  []*policy.Snapshot // up to the last round
}

var _ policy.Policy = (*Recorder)(nil)

// From returns what decides as a policy would next, with a placer like that of its run. It changes neither. If the policy cannot be
// copied, that is the error of each decision.
func From(p policy.Policy, fresh Fresh) Decider { return stateOf(p, fresh) }

// Copy returns a copy of a policy, which shares nothing with it that changes, and a placer. It returns an error if the policy cannot
// be copied.
func Copy(p policy.Policy, fresh Fresh) (policy.Policy, placement.Placer, error) {
	return stateOf(p, fresh).copied()
}

// A state is what a policy remembered at some time. It does not change.
type state struct {
	fresh  Fresh
	memory *memory.Image
	err    error // why there is none
}

// stateOf returns the present state of a policy.
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

// copied returns a policy in this state, and a placer.
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

// NewRecorder returns a Recorder of a policy. Placements must depend on snapshot and plan alone. The policy's memory is copied in
// every so many rounds, at least 1, and the rounds since are repeated when a round is decided again.
func NewRecorder(p policy.Policy, fresh Fresh, every int) *Recorder {
	return &Recorder{Policy: p, fresh: fresh, every: max(1, every)}
}

// Plan implements policy.Policy. A round costs a copy of a pointer for each job, and every few
// rounds a copy of the policy's memory. If it cannot be copied, the round is decided all the same, and cannot be decided again.
func (r *Recorder) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	r.keep(s)
	return r.Policy.Plan(ctx, s)
}

// keep adds a snapshot to those that can be decided again.
func (r *Recorder) keep(s *policy.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.since) == 0 || len(r.since) >= r.every {
		r.since, r.copies = nil, r.copies+1
		if r.before = stateOf(r.Policy, r.fresh); r.before.err != nil {
			return
		}
	}
	r.since = append(r.since, s)
}

// At returns the snapshot of the round at a time, and what decides it again; of a round in which the policy was not asked, because
// nothing had happened, the snapshot has the number of the last one in which it was. It returns an error if
// there was no such round since the policy's state was last copied, or an earlier one than the last
// that was asked for. Complexity: at most as many plans as there were rounds since.
func (r *Recorder) At(ctx context.Context, at time.Time) (*policy.Snapshot, Decider, error) {
	r.mu.Lock()
	before, since, copies := r.before, r.since, r.copies
	r.mu.Unlock()
	n := r.shown(since, at)
	if n < 0 {
		return nil, nil, fmt.Errorf("counterfactual: no round at %v that can be decided again", at)
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
	if r.copies == copies { // so that the next call repeats fewer rounds, also where this one had no time for all
		r.before, r.since, r.copies = now, r.since[repeated:], copies+1
	}
	if repeated < n {
		return nil, nil, ctx.Err()
	}
	if s := *since[n]; !s.Now.Equal(at) {
		s.Now = at
		return &s, now, nil
	}
	return since[n], now, nil
}

// shown returns which snapshot the policy was shown for the round at a time; -1 for none. A policy whose plans do not depend on
// earlier rounds is not asked in a round before which nothing happened: the last one stands for it.
func (r *Recorder) shown(since []*policy.Snapshot, at time.Time) int {
	for i, s := range slices.Backward(since) {
		if s.Now.Equal(at) || s.Now.Before(at) && r.Traits().Steady {
			return i
		}
	}
	return -1
}

// After returns copies of policy and placer as they were after the round at a time, and the background work that the policy
// asked for in that round; nil: none. Errors and complexity are those of At, and one more plan.
func (r *Recorder) After(ctx context.Context, at time.Time) (policy.Policy, placement.Placer, policy.Work, error) {
	s, d, err := r.At(ctx, at)
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

// Decide implements Decider: a copy of the policy decides. If it computes beside the rounds,
// that is done, and what counts is the next round, which is shown the result.
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

// once plans and places as a scheduler does.
func once(ctx context.Context, p policy.Policy, placer placement.Placer, s *policy.Snapshot) (plan *policy.Plan, err error) {
	defer func() {
		if r := recover(); r != nil { // as in the scheduler, a policy that panics has no plan
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
