package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// Run runs the scheduler on backend b until b returns io.EOF, and then returns nil. Any other error, or the end of ctx,
// drops the round in progress and is returned. If the backend ends a round early, or late by at least a round, the next
// round starts at that time and has the full length.
//
// Options.OnSubmit adds rounds after submissions: half a second after a submission, and at the earliest a twentieth of
// a round after the last round. Jobs that hold GPUs keep them. There is no such round while no GPU is free, or while
// another job has been waiting since an earlier round.
//
// Options.OnEvent adds rounds that are planned like regular ones. For a policy without Traits there are none while no
// job waits.
//
// Neither option moves the regular rounds.
func (s *Scheduler) Run(ctx context.Context, b Backend, obs ...Observer) error {
	s.times.begun = b.Now()
	s.times.next = s.times.begun.Add(cmp.Or(s.o.First, s.o.Round))
	return s.loop(ctx, b, obs)
}

// Resume is Run for a Scheduler that has received its Memory from another Scheduler after a round (Remember). The
// backend must continue directly after that round.
func (s *Scheduler) Resume(ctx context.Context, b Backend, obs ...Observer) error {
	if !s.times.between {
		s.times.turn(b.Now(), s.o.Round)
	}
	return s.loop(ctx, b, obs)
}

func (s *Scheduler) loop(ctx context.Context, b Backend, obs []Observer) error {
	for {
		due := s.times.due()
		ev, err := b.Next(ctx, due) // 1. events
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
		s.times.between = false
		if s.o.OnEvent > 0 && !due.Before(s.times.next) && s.settled() {
			s.times.turn(b.Now(), s.o.Round)
			continue
		}
		if now := b.Now(); due.Before(s.times.next) && !now.Before(due) && now.Before(s.times.next) {
			if s.times.extra = (time.Time{}); s.o.OnEvent == 0 && !s.admits() {
				continue
			}
			if s.times.between = true; s.o.OnEvent == 0 {
				how = s.keep
			}
		}
		if err := s.carryOut(ctx, b, how, obs); err != nil {
			return err
		}
		if !s.times.between {
			s.times.turn(b.Now(), s.o.Round)
		}
	}
}

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

// turn begins the next round at its time, or now if it begins early or a round late.
func (t *roundTimes) turn(now time.Time, length time.Duration) {
	if now.Before(t.next) && !now.Before(t.begun) || !now.Before(t.next.Add(length)) {
		t.next = now
	}
	t.begun, t.next = t.next, t.next.Add(length)
}

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

// A Backend runs the jobs and provides the clock. It is a simulation, one machine, or a Kubernetes or Slurm cluster.
//
// Next waits for the next event and returns it, or returns a nil Event at the deadline. Events due at the deadline come
// before nil. A simulation may return nil early, when no job can do more steps in the round; a live backend may return
// it late, for example after the machine was suspended. Next returns io.EOF when nothing more can happen. Do starts to
// carry out actions; their results arrive as events.
type Backend interface {
	Now() time.Time
	Next(ctx context.Context, deadline time.Time) (Event, error)
	Do(ctx context.Context, actions []Action) error
}

// An Observer receives every event and decision of the scheduler, in order and in the scheduler's goroutine, for
// example to record them. It must not change them.
type Observer interface {
	Event(now time.Time, ev Event)
	Round(s *policy.Snapshot, p *policy.Plan, actions []Action)
}

// An Unreported is an Observer that works without those progress reports that change nothing for the scheduler. A
// simulation may then skip them (sim.Options.Sparse).
type Unreported interface {
	Observer
	Unreported()
}
