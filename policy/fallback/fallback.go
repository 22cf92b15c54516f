package fallback

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// Options state when the fallback takes over.
type Options struct {
	// Deadline is how long the wrapped policy may plan, usually half a round; then its context ends. A
	// policy that has not returned after 1.5 times the deadline is not called again until it returns.
	Deadline time.Duration
	// After is the number of consecutive failures after which a simple queue plans. Default 3.
	After int
}

// DefaultOptions returns the options for rounds of the given length: a deadline of half a round, but at
// least 5 s.
func DefaultOptions(round time.Duration) Options {
	return Options{Deadline: max(round/2, leastDeadline), After: 3}
}

const leastDeadline = 5 * time.Second

func (o *Options) validate() error {
	var errs []error
	if o.Deadline <= 0 || o.Deadline > 24*time.Hour {
		errs = append(errs, fmt.Errorf("deadline %v, want more than 0 and at most 24h", o.Deadline))
	}
	if o.After < 1 || o.After > 1000 {
		errs = append(errs, fmt.Errorf("fallback after %d failures, want 1 to 1000", o.After))
	}
	return errors.Join(errs...)
}

// A Cause is the way in which the wrapped policy failed.
type Cause uint8

// The causes.
const (
	None  Cause = iota // no failure
	Error              // the policy returned an error
	Panic
	Deadline // the policy returned no plan in time
	Check    // policy.Check refused its plan
	causes
)

var causeNames = [causes]string{"none", "error", "panic", "deadline", "check"}

func (c Cause) String() string { return causeNames[c] }

// Causes returns all causes of failure.
func Causes() []Cause { return []Cause{Error, Panic, Deadline, Check} }

// A State describes the last round: whether the wrapped policy or the queue planned, and the last failure.
type State struct {
	Failures int   // number of failures in a row; 0 if the wrapped policy planned
	Cause    Cause // cause of the last failure
	Err      error // error of the last failure
	Active   bool  // the queue planned
}

// A Policy wraps another policy, and plans by a simple queue while the wrapped policy fails. Each round in which an
// unfinished Plan of the wrapped policy still runs counts as another failure. It is not safe for concurrent use.
//
// Deviation: a goroutine may outlive Plan, because a policy that ignores its context cannot be stopped, and must not
// stop the scheduler.
type Policy struct {
	wrapped policy.Policy
	simple  policy.Policy
	o       Options
	state   State
	late    <-chan answer // from a Plan that has not returned, or nil
}

// New returns a Policy around p, or the error of o.Validate.
func New(p policy.Policy, o Options) (*Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("fallback: %w", err)
	}
	return &Policy{wrapped: p, simple: queue.New(queue.FIFO()), o: o}, nil
}

// State describes the last call of Plan. Call it from the goroutine that calls Plan.
func (f *Policy) State() State { return f.state }

// Busy reports whether the wrapped policy is still planning an earlier round in its own goroutine, so that
// its data must not be read. Call it from the goroutine that calls Plan.
func (f *Policy) Busy() bool { return f.busy() }

// Traits returns the traits of the wrapped policy, but with Steady false, so that a failed policy is tried
// again in every round.
func (f *Policy) Traits() policy.Traits {
	t := f.wrapped.Traits()
	t.Steady, t.Keeps, t.IgnoresProgress = false, false, false
	return t
}

// Plan returns a plan that has passed policy.Check. If it returns an error, jobs should keep their GPUs. A
// cancelled ctx is an error but does not count as a failure.
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

type answer struct {
	plan  *policy.Plan
	err   error
	cause Cause
}

// patience is how long a policy has after its deadline to return its best plan, in deadlines.
const patience = 0.5

var (
	errLate = errors.New("policy exceeded its deadline and has not returned")
	errBusy = errors.New("policy is still planning an earlier round")
)

func (f *Policy) ask(ctx context.Context, s *policy.Snapshot) answer {
	if err := ctx.Err(); err != nil {
		return answer{err: err, cause: Error}
	}
	if f.busy() {
		return answer{err: errBusy, cause: Deadline}
	}
	last, stop := context.WithTimeout(ctx, f.o.Deadline+time.Duration(patience*float64(f.o.Deadline)))
	defer stop()
	soon, cancel := context.WithTimeout(last, f.o.Deadline)
	defer cancel()
	said := make(chan answer, 1)
	go func() { said <- plan(soon, f.wrapped, s) }()
	select {
	case a := <-said:
		return judge(soon, s, a)
	case <-last.Done():
		f.late = said
		return answer{err: errLate, cause: Deadline}
	}
}

func (f *Policy) busy() bool {
	if f.late == nil {
		return false
	}
	select {
	case <-f.late:
		f.late = nil
		return false
	default:
		return true
	}
}

func plan(ctx context.Context, p policy.Policy, s *policy.Snapshot) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{err: fmt.Errorf("policy panicked: %v", r), cause: Panic}
		}
	}()
	a.plan, a.err = p.Plan(ctx, s)
	if a.err != nil {
		a.cause = Error
	}
	return a
}

// judge classifies an answer. A good plan is no failure, even if late.
func judge(ctx context.Context, s *policy.Snapshot, a answer) answer {
	if a.cause == Error && ctx.Err() != nil {
		a.cause = Deadline
	}
	if a.cause != None {
		return answer{err: a.err, cause: a.cause}
	}
	if err := checked(s, a.plan); err != nil {
		return answer{err: fmt.Errorf("plan refused: %w", err), cause: Check}
	}
	return a
}

func checked(s *policy.Snapshot, p *policy.Plan) error {
	policy.FillProportional(s, p)
	return policy.Check(s, p)
}
