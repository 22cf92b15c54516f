package counterfactual

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/internal/deepcopy"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// A Decider decides a round again, with a snapshot that was changed. It is in the same state in
// each call. The plan is placed and keeps the rules; an error means that there is none.
type Decider interface {
	Decide(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error)
}

// A Recorder is a policy that can decide its last rounds again. It decides what the policy does,
// which must keep all its state in memory that it owns. At is safe for concurrent use.
type Recorder struct {
	policy.Policy
	placer placement.Placer // is only copied
	every  int

	mu     sync.Mutex
	copies int                // so far
	before state              // of the first of since
	since  []*policy.Snapshot // up to the last round
}

var _ policy.Policy = (*Recorder)(nil)

// From returns what decides as a policy and a placer would next. It changes neither.
func From(p policy.Policy, pl placement.Placer) Decider { return state{p, pl} }

// Copy returns copies of a policy and a placer, which share nothing with them that changes. It returns an error if they
// cannot be copied.
func Copy(p policy.Policy, pl placement.Placer) (policy.Policy, placement.Placer, error) {
	own, err := state{p, pl}.copied()
	return own.policy, own.placer, err
}

// A state is a policy and a placer that belong together.
type state struct {
	policy policy.Policy
	placer placement.Placer
}

// NewRecorder returns a Recorder of a policy. The placer is one like that of the run, which nobody
// else uses: placements must depend on snapshot and plan alone. The policy's state is copied in
// every so many rounds, at least 1, and the rounds since are repeated when a round is decided again.
func NewRecorder(p policy.Policy, pl placement.Placer, every int) *Recorder {
	return &Recorder{Policy: p, placer: pl, every: max(1, every)}
}

// Plan implements policy.Policy. A round costs a copy of a pointer for each job, and every few
// rounds a copy of the policy's state. A round that cannot be kept is decided all the same, and no
// earlier one can be decided again.
func (r *Recorder) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	r.keep(s)
	return r.Policy.Plan(ctx, s)
}

// keep adds a snapshot to those that can be decided again.
func (r *Recorder) keep(s *policy.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own, err := ownComputed(s)
	if err == nil && (len(r.since) == 0 || len(r.since) >= r.every) {
		r.since, r.copies = nil, r.copies+1
		r.before, err = state{r.Policy, r.placer}.copied()
	}
	if err != nil {
		r.since, r.copies = nil, r.copies+1
		return
	}
	r.since = append(r.since, own)
}

// copied returns a copy that shares nothing that changes.
func (st state) copied() (own state, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("counterfactual: copy of %T: %v", st.policy, r)
		}
	}()
	if own, err = deepcopy.Of(st, unchanging); err != nil {
		return own, fmt.Errorf("counterfactual: %w", err)
	}
	return own, nil
}

// ownComputed returns a snapshot with a result of background work that no policy has been shown.
func ownComputed(s *policy.Snapshot) (*policy.Snapshot, error) {
	if s.Computed == nil {
		return s, nil
	}
	own := *s
	var err error
	if own.Computed, err = deepcopy.Of(s.Computed, unchanging); err != nil {
		return nil, fmt.Errorf("counterfactual: %w", err)
	}
	return &own, nil
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
	now := before // which nobody changes: what decides copies it
	if n > 0 {
		var err error
		if now, err = before.copied(); err != nil {
			return nil, nil, err
		}
	}
	repeated := 0
	for ; repeated < n && ctx.Err() == nil; repeated++ {
		s, err := ownComputed(since[repeated])
		if err != nil {
			return nil, nil, err
		}
		now.once(context.WithoutCancel(ctx), s) //nolint:errcheck // as in the run, a round without a plan is one, too
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
	own, err := d.(state).copied()
	if err == nil {
		s, err = ownComputed(s)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	plan, err := own.once(ctx, s)
	if err != nil {
		return nil, nil, nil, err
	}
	return own.policy, own.placer, plan.Background, nil
}

// Decide implements Decider: a copy of the state decides. If the policy computes beside the rounds,
// that is done, and what counts is the next round, which is shown the result.
func (st state) Decide(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	own, err := st.copied()
	if err == nil {
		s, err = ownComputed(s)
	}
	if err != nil {
		return nil, err
	}
	plan, err := own.once(ctx, s)
	if err != nil || plan.Background == nil {
		return plan, err
	}
	then := *s
	then.Computed, then.Round, then.Now = plan.Background.Do(ctx), s.Round+1, s.Now.Add(s.Length)
	return own.once(ctx, &then)
}

// once plans and places as a scheduler does.
func (st state) once(ctx context.Context, s *policy.Snapshot) (plan *policy.Plan, err error) {
	defer func() {
		if r := recover(); r != nil { // as in the scheduler, a policy that panics has no plan
			plan, err = nil, fmt.Errorf("counterfactual: panicked: %v", r)
		}
	}()
	if plan, err = st.policy.Plan(ctx, s); err != nil {
		return nil, err
	}
	policy.FillProportional(s, plan)
	if err := policy.Check(s, plan); err != nil {
		return nil, err
	}
	if plan, err = st.placer.Place(ctx, s, plan); err != nil {
		return nil, err
	}
	return plan, policy.CheckPlacement(s, plan)
}

// unchanging reports whether nobody changes values of a type once they are made: what snapshots
// lead to, and what belongs to the language.
func unchanging(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[policy.Job](), reflect.TypeFor[policy.Snapshot](), reflect.TypeFor[cluster.Cluster](), reflect.TypeFor[job.Spec]():
		return true
	}
	path := t.PkgPath()
	return path == "time" || path == "reflect" || strings.HasPrefix(path, "github.com/oxgang/oxgang/model/perf")
}
