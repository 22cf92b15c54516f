package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Run runs the scheduler on a backend until nothing more can happen there, and returns
// nil. It returns an error if one occurs, or if ctx is done; the round in which ctx ends
// is dropped. If the backend ends a round before its deadline, or a round or more after it, the
// next round begins then and has the full length.
//
// With Options.OnSubmit there are submission rounds, too. The first begins half a second after a job
// was submitted, and another a twentieth of a round after the last round at the earliest, so that many
// submissions in a row make few rounds. In such a round jobs that hold GPUs keep what they hold, and
// the regular rounds come when they would come without it. There is none while no GPU is free, nor
// while a job waits that an earlier round has let wait.
//
// With Options.OnEvent there is a round half a second after a job has come or ended, or nodes have changed, but no sooner than so
// long after the last round. It is planned as a regular one. No round is held while no job waits, of a policy that uses only what was
// submitted. The regular rounds come when they would come without it, too.
func (s *Scheduler) Run(ctx context.Context, b Backend, obs ...Observer) error {
	s.begun = b.Now()
	s.next = s.begun.Add(cmp.Or(s.o.First, s.o.Round))
	return s.loop(ctx, b, obs)
}

// Resume is Run for a Scheduler that remembers what another was told when an observer of a round asked
// for its Memory. The backend goes on directly after that round, whose actions it has carried out.
func (s *Scheduler) Resume(ctx context.Context, b Backend, obs ...Observer) error {
	if !s.between {
		s.turn(b.Now())
	}
	return s.loop(ctx, b, obs)
}

// loop runs the scheduler until nothing more can happen.
func (s *Scheduler) loop(ctx context.Context, b Backend, obs []Observer) error {
	for {
		due := s.due(s.next)
		ev, err := b.Next(ctx, due) // 1. what happened
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
		how := s.plan
		s.between = false
		if s.o.OnEvent > 0 && !due.Before(s.next) && s.settled() {
			s.turn(b.Now())
			continue
		}
		if now := b.Now(); due.Before(s.next) && !now.Before(due) && now.Before(s.next) {
			if s.extra = (time.Time{}); s.o.OnEvent == 0 && !s.admits() {
				continue
			}
			if s.between = true; s.o.OnEvent == 0 {
				how = s.keep
			}
		}
		if err := s.carryOut(ctx, b, how, obs); err != nil {
			return err
		}
		if !s.between {
			s.turn(b.Now())
		}
	}
}

// carryOut has one round: it decides, tells the observers, and gives the backend what is to be done.
func (s *Scheduler) carryOut(ctx context.Context, b Backend, how planner, obs []Observer) error {
	snap, plan, acts := s.decide(ctx, b.Now(), how) // 2. snapshot -> plan -> check -> place -> diff
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
	return nil
}

// turn ends a round: it sets when the next one begins.
func (s *Scheduler) turn(now time.Time) {
	if now.Before(s.next) && !now.Before(s.begun) || !now.Before(s.next.Add(s.o.Round)) {
		s.next = now
	}
	s.begun, s.next = s.next, s.next.Add(s.o.Round)
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
