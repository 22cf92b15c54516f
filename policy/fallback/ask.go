package fallback

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/policy"
)

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

// judge classifies an answer. A good plan is no failure, even if late. An error after the deadline counts as
// Deadline.
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
