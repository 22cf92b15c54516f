package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/whatif/calibration"
)

// RoundIn is RoundOf for a journal in a file. It replays from the last checkpoint before the moment, and
// returns what RoundOf would; only how far off predictions are is learned from looks ahead from
// checkpoints, not from every twelfth of the rounds. Where a checkpoint remembers nothing that this
// program can read, it replays from an earlier one, at last from the start. Without a checkpoint it is RoundOf.
func RoundIn(ctx context.Context, f *journal.File, of Moment, o Options) (*Round, error) {
	marks, err := f.Marks(of.At)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	return roundFrom(ctx, f, marks, marks, of, o)
}

// roundFrom replays from the last of some checkpoints from which that goes, and looks ahead from others.
func roundFrom(ctx context.Context, f *journal.File, begins, marks []journal.Mark, of Moment, o Options) (*Round, error) {
	if len(marks) == 0 {
		r, err := f.Start()
		if err != nil {
			return nil, fmt.Errorf("whatif: %w", err)
		}
		return RoundOf(ctx, r, of, o)
	}
	so := o.Scheduler
	so.Round = f.Header().Round
	b := &beginnings{ctx, f, so, &o}
	round, err := b.round(begins, of)
	if err == nil {
		round.calibrate = func(far time.Duration) (*calibration.Record, error) { return b.calibrate(marks, of.At, far) }
	}
	return round, err
}

// beginnings are the places of a recorded run from which it can go on.
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
	h := b.f.Header()
	if h.From > 0 { // what is kept of the journal begins with the first of the marks
		return nil, fmt.Errorf("whatif: job %s: %w", of.Job, cmp.Or(failed, ErrUndecided))
	}
	r, err := b.f.Start()
	if err != nil {
		return nil, err
	}
	m, _, err := b.o.began(&h)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	return t.round(r, nil, m, b.scheduler, b.o)
}

// from returns the checkpoint at a mark, what is remembered there, and a reader of what follows.
func (b *beginnings) from(at journal.Mark) (*journal.Reader, *journal.Checkpoint, *memory, error) {
	r, c, err := b.f.From(at)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("whatif: %w", err)
	}
	h := b.f.Header()
	m, so, err := b.o.began(&h)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("whatif: %w", err)
	}
	m, err = newRecall(m, so.Estimate.Fits).read(c.Memory)
	return r, c, m, err
}

// A view is what was expected at a checkpoint.
type view struct {
	snapshot *policy.Snapshot // nil: the checkpoint remembers nothing that this program can read
	learner  *Learner
	times    []Times
}

// The constants of looks ahead that only tell how far off predictions are.
const (
	coarseShare = 0.02 // of the time looked ahead by which rounds may be longer
	reach       = 8    // times the longest time that is asked for: of errors of longer ones little counts
)

// calibrate looks ahead from some checkpoints, and returns what came of that up to a time. It is for
// predictions of times up to one.
func (b *beginnings) calibrate(marks []journal.Mark, at, far time.Duration) (*calibration.Record, error) {
	h := b.f.Header()
	ahead := NewPredictor(b.o.Fresh, b.scheduler, h.Cluster.Types())
	ahead.record = calibration.New(h.Round)
	ahead.options.Coarse, ahead.options.Within = coarseShare, reach*max(far, h.Round)
	from := spread(marks)
	views, err := b.views(ahead, from)
	if err != nil {
		return nil, err
	}
	to, err := b.f.End(at)
	if err != nil {
		return nil, err
	}
	for i, mark := range from {
		end := to
		if i+1 < len(from) {
			end = from[i+1]
		}
		if v := views[i]; v.snapshot != nil {
			ahead.learn, ahead.last, ahead.plan = v.learner, v.snapshot, held(v.snapshot)
			ahead.ranges(v.snapshot, v.times)
		}
		if err := b.f.Outcomes(mark, end, func(rec journal.Record) { told(ahead.record, &h, &rec) }); err != nil {
			return nil, err
		}
	}
	return ahead.record, nil
}

// views looks ahead from checkpoints, as many at a time as there are processors.
func (b *beginnings) views(ahead *Predictor, from []journal.Mark) ([]view, error) {
	all := make([]view, len(from))
	g, ctx := errgroup.WithContext(b.ctx)
	if g.SetLimit(runtime.GOMAXPROCS(0)); b.scheduler.Estimate.Fits != nil {
		g.SetLimit(1) // they are shared, and not safe for concurrent use
	}
	for i, mark := range from {
		g.Go(func() (err error) {
			all[i], err = b.view(ctx, ahead.options, mark)
			return err
		})
	}
	return all, g.Wait()
}

// view looks ahead from a checkpoint.
func (b *beginnings) view(ctx context.Context, o Options, at journal.Mark) (view, error) {
	_, c, m, err := b.from(at)
	if errors.Is(err, errNoMemory) {
		return view{}, nil
	}
	if err != nil {
		return view{}, err
	}
	h := b.f.Header()
	s, err := scheduler.New(m.policy, m.placer, h.Cluster, b.scheduler)
	if err != nil {
		return view{}, err
	}
	s.Remember(m.scheduler)
	v := view{snapshot: s.Snapshot(h.Start.Add(c.At)), learner: m.learner}
	o.Measured, o.Between = v.learner.Measured(), v.learner.Between(v.snapshot.Now)
	if v.times, err = Ahead(ctx, v.snapshot, o); err != nil && ctx.Err() == nil {
		return view{}, nil
	}
	v.forgetOpen()
	return v, err
}

// forgetOpen makes times unknown of which one simulation did not come as far: how long they are is not known.
func (v *view) forgetOpen() {
	for i := range v.times {
		for _, g := range []*Guess{&v.times[i].Start, &v.times[i].Next, &v.times[i].End} {
			if g.Open {
				*g = Guess{Why: Beyond}
			}
		}
	}
}

// told tells a record what a journal says became of jobs.
func told(record *calibration.Record, h *journal.Header, rec *journal.Record) {
	now := h.Start.Add(rec.At)
	if ev, ok := rec.Event.(scheduler.Exited); ok && ev.Outcome != scheduler.Lost {
		record.Ended(now, ev.Job, ev.Outcome == scheduler.Done)
	}
	if rec.Round == nil {
		return
	}
	for _, a := range rec.Round.Actions {
		record.Started(now, a.Topic().Job)
	}
}

// spread returns checkpoints, as many as looks if there are so many: the first after each of so many equal
// parts of the time up to the last one.
func spread(marks []journal.Mark) []journal.Mark {
	var all []journal.Mark
	part, next := marks[len(marks)-1].At/(looks-1), 0
	for i := range looks {
		for next < len(marks) && marks[next].At < part*time.Duration(i) {
			next++
		}
		if next < len(marks) {
			all = append(all, marks[next])
			next++
		}
	}
	return all
}
