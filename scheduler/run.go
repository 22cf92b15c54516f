package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
)

// Run runs the scheduler on a backend until nothing more can happen there, and returns
// nil. It returns an error if one occurs, or if ctx is done; the round in which ctx ends
// is dropped. If the backend ends a round before its deadline, or a round or more after it, the
// next round begins then and has the full length.
func (s *Scheduler) Run(ctx context.Context, b Backend, obs ...Observer) error {
	begun := b.Now()
	for next := begun.Add(cmp.Or(s.o.First, s.o.Round)); ; {
		ev, err := b.Next(ctx, next) // 1. what happened
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if ev != nil {
			if err := s.take(ctx, b, ev, obs); err != nil {
				return err
			}
			continue
		}
		snap, plan, acts := s.Round(ctx, b.Now()) // 2. snapshot -> plan -> check -> place -> diff
		if err := ctx.Err(); err != nil {
			return err // the policy may have stopped early
		}
		if snap != nil {
			for _, o := range obs {
				o.Round(snap, plan, acts)
			}
		}
		if err := b.Do(ctx, acts); err != nil { // 3. carry it out
			return fmt.Errorf("round %d: %w", s.round-1, err)
		}
		if now := b.Now(); now.Before(next) && !now.Before(begun) || !now.Before(next.Add(s.o.Round)) {
			next = now
		}
		begun, next = next, next.Add(s.o.Round)
	}
}

// take gives one event to the scheduler and the observers.
func (s *Scheduler) take(ctx context.Context, b Backend, ev Event, obs []Observer) error {
	now := b.Now()
	acts, err := s.Step(now, ev)
	if err != nil {
		return err
	}
	for _, o := range obs {
		o.Event(now, ev)
	}
	if len(acts) == 0 {
		return nil
	}
	return b.Do(ctx, acts)
}
