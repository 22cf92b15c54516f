package whatif

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/scheduler"
)

// A Replayed says whether the decisions of a recorded run come out again.
type Replayed struct {
	journal.Comparison
	Asked     int  // actions in all
	Truncated bool // the journal was cut off
}

// Replay shows a recording, of which only the header has been read, to a fresh policy and
// placer, and compares everything that they decide with what was recorded, up to the first
// difference (journal.Backend.Watch); of Options.ActionsAlone, only what they do.
// It returns an error if the journal is damaged, other than by a cut.
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

// counting counts what a replay is asked for.
type counting struct {
	*journal.Backend
	asked int
}

// Do implements scheduler.Backend.
func (c *counting) Do(ctx context.Context, acts []scheduler.Action) error {
	c.asked += len(acts)
	return c.Backend.Do(ctx, acts)
}

// result returns what a replay found that ended with err.
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
