package rig

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Fatal error ends a wait.
type Fatal struct{ Err error }

func (f Fatal) Error() string { return f.Err.Error() }

func (f Fatal) Unwrap() error { return f.Err }

// Until calls ready every 50 ms until it returns nil. It returns an error when ctx ends or ready returns a Fatal error.
// what names the awaited state.
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

var errNot = errors.New("the condition does not hold")

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

func (p *Process) ended() error { return fmt.Errorf("%s ended: %s", p.Name, p.Tail()) }

// Answers returns the result of ok, or a Fatal error if the program is not running.
func (p *Process) Answers(ok func() error) error {
	if !p.Running() {
		return Fatal{p.ended()}
	}
	return ok()
}
