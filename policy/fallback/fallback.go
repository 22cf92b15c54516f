package fallback

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// Options configure a Policy.
type Options struct {
	// Deadline is how long the wrapped policy may plan, most often a half of the round. Then
	// its context ends. A policy without an answer after half as much again is not asked again
	// until it answers.
	Deadline time.Duration
	// After is how many failures in a row it takes until the queue plans. Default 3.
	After int
}

// DefaultOptions returns the options for rounds of such a length: half of it to plan, 5 s at
// least.
func DefaultOptions(round time.Duration) Options {
	return Options{Deadline: max(round/2, leastDeadline), After: 3}
}

// leastDeadline is the time that a policy has to plan however short rounds are.
const leastDeadline = 5 * time.Second

// Validate returns an error that joins all complaints about o.
func (o *Options) Validate() error {
	var errs []error
	if o.Deadline <= 0 || o.Deadline > 24*time.Hour {
		errs = append(errs, fmt.Errorf("deadline %v, want more than 0 and at most 24h", o.Deadline))
	}
	if o.After < 1 || o.After > 1000 {
		errs = append(errs, fmt.Errorf("fallback after %d failures, want 1 to 1000", o.After))
	}
	return errors.Join(errs...)
}

// A Cause is how a policy failed.
type Cause uint8

// The causes.
const (
	None     Cause = iota // it did not
	Error                 // it returned an error
	Panic                 // it panicked
	Deadline              // it had no plan when its time was over
	Check                 // policy.Check refused its plan
	causes
)

var causeNames = [causes]string{"none", "error", "panic", "deadline", "check"}

// String returns the cause in one word.
func (c Cause) String() string { return causeNames[c] }

// Causes returns every cause of a failure.
func Causes() []Cause { return []Cause{Error, Panic, Deadline, Check} }

// A State says whether the wrapped policy failed in a round, and whether the queue planned
// instead.
type State struct {
	Failures int   // in a row; 0: the wrapped policy made the plan
	Cause    Cause // of the last of them
	Err      error // what it said; nil if there was none
	Active   bool  // the queue planned in its place
}

// A Policy is a policy.Policy with a fallback. It is not safe for concurrent use.
//
// Its plans are a function of the snapshots and of what the wrapped policy answers and when.
// The wrapped policy is asked in every round, except while it has not answered an earlier
// one: that counts as one more failure.
//
// Deviation: a goroutine may outlive Plan, because a policy that ignores its context cannot
// be stopped, and must not stop the scheduler.
type Policy struct {
	wrapped policy.Policy
	simple  policy.Policy
	o       Options
	state   State
	late    <-chan answer // of a Plan that has not returned; nil: none
}

// New returns a Policy around p. It returns an error if the options are not valid.
func New(p policy.Policy, o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("fallback: %w", err)
	}
	return &Policy{wrapped: p, simple: queue.New(queue.FIFO()), o: o}, nil
}

// State returns the state after the last Plan. Call it from the goroutine that calls Plan, for
// example from an observer of the scheduler.
func (f *Policy) State() State { return f.state }

// Busy reports whether the wrapped policy has not answered an earlier round yet: its goroutine may still change
// it. Call it as State.
func (f *Policy) Busy() bool { return f.busy() }

// Traits implements policy.Policy: those of the policy that it asks.
func (f *Policy) Traits() policy.Traits {
	t := f.wrapped.Traits()
	t.Steady, t.Keeps, t.IgnoresProgress = false, false, false // a policy that has failed is asked in every round whether it plans again
	return t
}

// Plan implements policy.Policy. The plans that it returns have passed policy.Check. An error
// means that the last plan should stay, which is also what a cancelled ctx returns: that is
// no failure.
func (f *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	a := f.ask(ctx, s)
	if err := ctx.Err(); err != nil && a.cause != None {
		return nil, fmt.Errorf("fallback: round %d: %w", s.Round, err)
	}
	if a.cause == None {
		f.state = State{}
		return a.plan, nil
	}
	f.state = State{Failures: f.state.Failures + 1, Cause: a.cause, Err: a.err}
	if f.state.Failures < f.o.After {
		return nil, fmt.Errorf("failure %d in a row: %w", f.state.Failures, a.err)
	}
	p, err := f.queue(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("failure %d in a row: %w; and the fallback: %w", f.state.Failures, a.err, err)
	}
	f.state.Active = true
	return p, nil
}

// queue returns the plan of the simple policy.
func (f *Policy) queue(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p, err := f.simple.Plan(ctx, s)
	if err != nil {
		return nil, err
	}
	return p, checked(s, p)
}
