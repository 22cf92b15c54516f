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
	// Deadline is the planning time of the wrapped policy, usually half a round; its context then ends. After
	// half as much again it is not asked until it answers.
	Deadline time.Duration
	// After is the number of consecutive failures after which the queue plans. Default 3.
	After int
}

// DefaultOptions returns the options for a round length: a deadline of half a round, at least 5 s.
func DefaultOptions(round time.Duration) Options {
	return Options{Deadline: max(round/2, leastDeadline), After: 3}
}

const leastDeadline = 5 * time.Second

// Validate returns all errors in o, joined.
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

// A Cause is the kind of a failure.
type Cause uint8

// The causes.
const (
	None     Cause = iota // no failure
	Error                 // it returned an error
	Panic                 // it panicked
	Deadline              // it had no plan in time
	Check                 // policy.Check refused its plan
	causes
)

var causeNames = [causes]string{"none", "error", "panic", "deadline", "check"}

// String returns the cause's name.
func (c Cause) String() string { return causeNames[c] }

// Causes returns all causes of failure.
func Causes() []Cause { return []Cause{Error, Panic, Deadline, Check} }

// A State is the outcome of a round.
type State struct {
	Failures int   // in a row; 0: the wrapped policy planned
	Cause    Cause // of the last failure
	Err      error // of the last failure
	Active   bool  // the queue planned
}

// A Policy is a policy.Policy with a fallback. Its plans depend on the snapshots, and on what the wrapped
// policy answers and when. An unanswered round counts as another failure. It is not safe for concurrent use.
//
// Deviation: a goroutine may outlive Plan, because a policy that ignores its context cannot be stopped, and
// must not stop the scheduler.
type Policy struct {
	wrapped policy.Policy
	simple  policy.Policy
	o       Options
	state   State
	late    <-chan answer // from a Plan that has not returned, or nil
}

// New returns a Policy around p, or the error of o.Validate.
func New(p policy.Policy, o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("fallback: %w", err)
	}
	return &Policy{wrapped: p, simple: queue.New(queue.FIFO()), o: o}, nil
}

// State returns the state after the last Plan. Call it from the goroutine that calls Plan.
func (f *Policy) State() State { return f.state }

// Busy reports whether the wrapped policy still plans an earlier round, so that its goroutine may change it.
// Call it as State.
func (f *Policy) Busy() bool { return f.busy() }

// Traits implements policy.Policy. Rounds must not be skipped, so that a failed policy is asked again.
func (f *Policy) Traits() policy.Traits {
	t := f.wrapped.Traits()
	t.Steady, t.Keeps, t.IgnoresProgress = false, false, false
	return t
}

// Plan implements policy.Policy. Plans have passed policy.Check. After an error the last plan should stay. A
// cancelled ctx is an error but no failure.
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
		return nil, fmt.Errorf("failure %d in a row: %w; the fallback failed too: %w", f.state.Failures, a.err, err)
	}
	f.state.Active = true
	return p, nil
}

func (f *Policy) queue(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p, err := f.simple.Plan(ctx, s)
	if err != nil {
		return nil, err
	}
	return p, checked(s, p)
}
