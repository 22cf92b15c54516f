package whatif

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/scheduler"
)

// A Replayed says whether a policy decides again what it decided in a recorded run.
type Replayed struct {
	journal.Comparison
	Asked     int  // actions that the replay decided
	Truncated bool // the journal was cut off
}

// Replay shows a journal, of which only the header has been read, to a fresh policy and placer.
// It compares everything that they decide with what was recorded, up to the first difference
// (journal.Backend.Watch); with Options.ActionsAlone it compares only actions. It returns an
// error if the journal is damaged; a journal that is cut off is none.
func Replay(ctx context.Context, r *journal.Reader, o Options) (*Replayed, error) {
	p, placer, err := o.Fresh()
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	h, so := r.Header(), o.Scheduler
	so.Round = h.Round
	s, err := scheduler.New(p, placer, h.Cluster, so)
	if err != nil {
		return nil, fmt.Errorf("whatif: replay: %w", err)
	}
	b := &counting{Backend: journal.Replay(r)}
	var watch []scheduler.Observer
	if !o.ActionsAlone {
		watch = append(watch, b.Watch())
	}
	return b.result(s.Run(ctx, b, watch...))
}

// counting counts the actions of a replay.
type counting struct {
	*journal.Backend
	asked int
}

// Do implements scheduler.Backend.
func (c *counting) Do(ctx context.Context, acts []scheduler.Action) error {
	c.asked += len(acts)
	return c.Backend.Do(ctx, acts)
}

// result returns the result of a replay that ended with err.
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
