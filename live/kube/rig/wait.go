package rig

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Fatal error ends what waits for it to go away.
type Fatal struct{ Err error }

// Error implements error.
func (f Fatal) Error() string { return f.Err.Error() }

// Unwrap returns what cannot go away.
func (f Fatal) Unwrap() error { return f.Err }

// Until calls ready every 50 ms until it returns nil. It fails when ctx ends, or with a
// Fatal error; the error says what was waited for, and what was still in the way.
func Until(ctx context.Context, what string, ready func() error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		if end, ok := errors.AsType[Fatal](err); ok {
			return fmt.Errorf("wait for %s: %w", what, end.Err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; last: %w", what, ctx.Err(), err)
		}
	}
}

// errNot is in the way as long as something is not so.
var errNot = errors.New("it is not so")

// poll waits until ok returns true, or p, if not nil, ends.
func poll(ctx context.Context, p *Process, what string, ok func() bool) error {
	return Until(ctx, what, func() error {
		switch {
		case ok():
			return nil
		case p != nil && !p.Running():
			return Fatal{p.ended()}
		}
		return errNot
	})
}

// ended returns the error that the program ended, with what it said last.
func (p *Process) ended() error { return fmt.Errorf("%s ended: %s", p.Name, p.Tail()) }

// Answers returns nothing if ok does. It is Fatal that the program does not run.
func (p *Process) Answers(ok func() error) error {
	if !p.Running() {
		return Fatal{p.ended()}
	}
	return ok()
}
