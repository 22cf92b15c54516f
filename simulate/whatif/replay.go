package whatif

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A Replayed is the result of Replay: how far the decisions equal the recorded ones.
type Replayed struct {
	journal.Comparison
	Asked     int  // actions decided by the replay
	Truncated bool // the journal was cut off
}

// Replay passes a recorded run to a new policy and placer, and compares their decisions with the recorded ones up to
// the first difference. r must be at its first record. A damaged journal is an error; a truncated one is not.
func Replay(ctx context.Context, r *journal.Reader, o Options) (*Replayed, error) {
	begun, err := o.begin(r)
	if err != nil {
		return nil, fmt.Errorf("whatif: replay: %w", err)
	}
	b := &counting{Backend: begun.backend}
	var watch []scheduler.Observer
	if !o.ActionsAlone {
		watch = append(watch, b.Watch())
	}
	return b.result(begun.run(ctx, b, watch...))
}

type begun struct {
	scheduler *scheduler.Scheduler
	backend   *journal.Backend
	memory    *runState
	resumed   bool // the journal begins at a checkpoint
}

func (o *Options) begin(r *journal.Reader) (*begun, error) {
	h := r.Header()
	m, so, err := o.began(&h)
	if err != nil {
		return nil, err
	}
	c, err := r.Checkpoint()
	if err == nil && c != nil {
		err = m.read(c.Memory)
	}
	if err != nil {
		return nil, err
	}
	s, err := scheduler.New(m.policy, m.placer, h.Cluster, so)
	if err != nil || c == nil {
		return &begun{scheduler: s, backend: journal.Replay(r), memory: m}, err
	}
	s.Remember(m.scheduler)
	return &begun{s, journal.Resume(r, c), m, true}, nil
}

func (b *begun) run(ctx context.Context, over scheduler.Backend, obs ...scheduler.Observer) error {
	if b.resumed {
		return b.scheduler.Resume(ctx, over, obs...)
	}
	return b.scheduler.Run(ctx, over, obs...)
}

type counting struct {
	*journal.Backend
	asked int
}

func (c *counting) Do(ctx context.Context, acts []scheduler.Action) error {
	c.asked += len(acts)
	return c.Backend.Do(ctx, acts)
}

func (c *counting) result(err error) (*Replayed, error) {
	found := &Replayed{Comparison: c.Comparison(), Asked: c.asked, Truncated: errors.Is(err, journal.ErrTruncated)}
	if _, differs := errors.AsType[*journal.Difference](err); differs || found.Truncated {
		return found, nil
	}
	if err != nil {
		return nil, fmt.Errorf("whatif: replay: %w", err)
	}
	return found, nil
}
