package whatif

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oxgang/oxgang/explain/counterfactual"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// copyRounds is after how many rounds Unblock copies the state of the policy.
const copyRounds = 16

// ErrUndecided says that no round has decided on a job yet, or that the last one kept what was.
var ErrUndecided = errors.New("no plan has the job")

// A Round is the last round of a recorded run up to some time, which can be decided again.
type Round struct {
	job      job.ID
	snapshot *policy.Snapshot
	plan     *policy.Plan
	decider  counterfactual.Decider
	ahead    *Predictor
}

// RoundOf returns the last round up to a time since the start of a recording. The journal, of which only
// the header may have been read, is replayed up to then, so that the policy decides as it did.
// Errors: ErrUndecided; that of a damaged journal; a *journal.Difference if
// the policy does not decide what was recorded.
func RoundOf(ctx context.Context, r *journal.Reader, of Moment, o Options) (*Round, error) {
	last, rec, err := until(ctx, r, of.At, o)
	switch {
	case err != nil:
		return nil, fmt.Errorf("whatif: %w", err)
	case last.snapshot.Index(of.Job) < 0 || last.plan.Refused != "":
		return nil, fmt.Errorf("whatif: job %s: %w", of.Job, ErrUndecided)
	}
	s, d, err := rec.At(ctx, last.snapshot.Now)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	return &Round{of.Job, s, last.plan, d, last.ahead}, nil
}

// Unblock returns the cheapest change by which the job would have got GPUs, or more GPUs; see
// counterfactual.Find.
func (r *Round) Unblock(ctx context.Context) (*counterfactual.Change, error) {
	return counterfactual.Find(ctx, r.snapshot, r.plan, r.job, r.decider)
}

// Weighed returns what the job counted in the round; false if its policy does not weigh jobs.
func (r *Round) Weighed(ctx context.Context) (policy.Terms, bool) {
	return counterfactual.Weigh(ctx, r.snapshot, r.job, r.decider)
}

// A Moment is a job at a time since the start of a recording.
type Moment struct {
	Job job.ID
	At  time.Duration
}

// until replays a journal up to a time, and returns the last round and who decided it.
func until(ctx context.Context, r *journal.Reader, at time.Duration, o Options) (*lastRound, *counterfactual.Recorder, error) {
	p, placer, err := o.Fresh()
	if err != nil {
		return nil, nil, err
	}
	_, spare, err := o.Fresh()
	if err != nil {
		return nil, nil, err
	}
	h, so := r.Header(), o.Scheduler
	so.Round = h.Round
	rec := counterfactual.NewRecorder(p, spare, copyRounds)
	last := &lastRound{ahead: NewPredictor(o.Fresh, so, h.Cluster.Types()), every: max(1, int(at/max(h.Round, time.Second))/looks), ctx: ctx}
	s, err := scheduler.New(rec, placer, h.Cluster, so)
	if err != nil {
		return nil, nil, err
	}
	err = s.Run(ctx, &ending{journal.Replay(r), h.Start.Add(at)}, last)
	if errors.Is(err, journal.ErrTruncated) {
		err = nil // what came before stands
	}
	return last, rec, err
}

// looks is how often, up to the moment that is asked for, a recorded run is looked ahead from, to
// learn how far off such predictions are in it.
const looks = 12

// A lastRound keeps the last round, and predicts now and then.
type lastRound struct {
	ctx      context.Context
	snapshot *policy.Snapshot
	plan     *policy.Plan
	ahead    *Predictor
	every    int // rounds from one look ahead to the next
	rounds   int
}

// Event implements scheduler.Observer.
func (l *lastRound) Event(now time.Time, ev scheduler.Event) { l.ahead.Event(now, ev) }

// Round implements scheduler.Observer.
func (l *lastRound) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	if s == nil {
		return
	}
	l.snapshot, l.plan = s, p
	l.ahead.Round(s, p, acts)
	if l.rounds++; l.rounds%l.every == 0 {
		l.ahead.LookFor(l.ctx)
	}
}

// Expect returns when the jobs were to start and to end, as of the round, by what was known then.
func (r *Round) Expect(ctx context.Context) map[job.ID]ETA {
	all, _ := r.ahead.LookFor(ctx)
	return all
}

// An ending recording ends at a time, after the round of that time.
type ending struct {
	scheduler.Backend
	at time.Time
}

// Next implements scheduler.Backend.
func (e *ending) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if !deadline.After(e.at) {
		return e.Backend.Next(ctx, deadline)
	}
	ev, err := e.Backend.Next(ctx, e.at)
	if ev == nil && err == nil {
		err = io.EOF
	}
	return ev, err
}
