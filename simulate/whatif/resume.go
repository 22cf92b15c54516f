package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// RoundIn is RoundOf for a journal file. It replays from the last usable checkpoint before moment.At, or from the
// start.
func RoundIn(ctx context.Context, f *journal.File, moment Moment, o Options) (*Round, error) {
	marks, err := f.Marks(moment.At)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	so := o.Scheduler
	so.Round = f.Header().Round
	b := &beginnings{ctx, f, so, &o}
	return b.round(marks, moment)
}

type beginnings struct {
	ctx       context.Context
	f         *journal.File
	scheduler scheduler.Options
	o         *Options
}

// round replays from the last checkpoint after which there is a round, or from the start.
func (b *beginnings) round(marks []journal.Mark, of Moment) (*Round, error) {
	t := &replayed{of: of, ctx: b.ctx}
	var failed error
	for _, mark := range slices.Backward(marks) {
		r, c, was, err := b.from(mark)
		if errors.Is(err, errNoMemory) {
			failed = err
			continue
		}
		if err != nil {
			return nil, err
		}
		failed = nil
		round, err := t.round(r, c, was, b.scheduler, b.o)
		if t.snapshot != nil || err != nil && !errors.Is(err, ErrUndecided) {
			return round, err
		}
	}
	if b.f.Header().From > 0 && len(marks) > 0 { // the file begins with the first of the marks
		return nil, fmt.Errorf("whatif: %s: %w", printable.Named("job", string(of.Job)), cmp.Or(failed, ErrUndecided))
	}
	r, err := b.f.Start()
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	return RoundOf(b.ctx, r, of, *b.o)
}

func (b *beginnings) from(at journal.Mark) (*journal.Reader, *journal.Checkpoint, *runState, error) {
	r, c, err := b.f.From(at)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("whatif: %w", err)
	}
	h := b.f.Header()
	m, _, err := b.o.began(&h)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("whatif: %w", err)
	}
	return r, c, m, m.read(c.Memory)
}
