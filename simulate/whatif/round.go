package whatif

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// copyRounds is the number of rounds between copies of the policy's state, for Unblock.
const copyRounds = 16

// ErrUndecided is returned if no round has planned the job yet, or if the last plan was refused.
var ErrUndecided = errors.New("no plan has the job")

// A Round is the last round of a recorded run before a given time. It can be planned again.
type Round struct {
	job      job.ID
	snapshot *policy.Snapshot
	plan     *policy.Plan
	decider  counterfactual.Decider
	ahead    *Predictor
	ended    []job.ID // since the round, up to the moment
	passed   time.Duration
}

// RoundOf replays a recording until the time moment.At, and returns the last round. r must be at its first record.
// Errors: ErrUndecided, *journal.Difference if the policy does not decide as recorded, or a damaged journal.
func RoundOf(ctx context.Context, r *journal.Reader, moment Moment, o Options) (*Round, error) {
	h := r.Header()
	m, so, err := o.began(&h)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	c, err := r.Checkpoint()
	if err == nil && c != nil {
		err = m.read(c.Memory)
	}
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	t := &replayed{of: moment, ctx: ctx}
	if c == nil && !moment.Rough {
		t.every = max(1, int(moment.At/max(so.Round, time.Second))/looks)
	}
	return t.round(r, c, m, so, &o)
}

// Unblock returns the cheapest change with which the round would have given the job GPUs, or more GPUs: see
// counterfactual.Find. ends is the time until jobs end; jobs that have ended by Moment.At are omitted.
func (r *Round) Unblock(ctx context.Context, ends map[job.ID]time.Duration) (*counterfactual.Change, error) {
	s, p := counterfactual.Remaining(r.snapshot, r.plan, r.ended)
	return counterfactual.Find(ctx, s, p, r.job, r.decider, ends)
}

// Passed returns the time from the round to Moment.At.
func (r *Round) Passed() time.Duration { return r.passed }

// Weighed returns the terms of the job's weight in the round, or false if the policy has no weights.
func (r *Round) Weighed(ctx context.Context) (policy.Terms, bool) {
	return counterfactual.Weigh(ctx, r.snapshot, r.job, r.decider)
}

// SeveralRacks returns how much slower jobs of the same class train in several racks, as measured before the round, or
// false if unknown.
func (r *Round) SeveralRacks() (perf.LocalityCost, bool) { return r.snapshot.SeveralRacks(r.job) }

// A Moment selects what to explain: a job, at a time since the start of a recording.
type Moment struct {
	Job job.ID // empty: none, for Try
	At  time.Duration
	// Rough skips the predictions that measure the accuracy of ranges, which take most of the time if there are no
	// checkpoints.
	Rough bool
}

// looks is the number of predictions up to the moment in a run without checkpoints, to learn how accurate they
// are.
const looks = 12

// mostLooked is the number of jobs above which a round has no such prediction: the limit of rows would end it before
// most jobs start, and it would take far longer than the answer.
const mostLooked = 1000

const coarseShare = 0.02

type replayed struct {
	ctx      context.Context
	of       Moment
	snapshot *policy.Snapshot
	plan     *policy.Plan
	ahead    *Predictor
	every    int // rounds between predictions; 0: none
	rounds   int
}

// round replays a journal after its header or the checkpoint c, and returns the last
// round. m is the state there.
func (t *replayed) round(r *journal.Reader, c *journal.Checkpoint, m *runState, so scheduler.Options, o *Options) (*Round, error) {
	rec, err := t.replay(r, c, m, so, o)
	switch {
	case err != nil:
		return nil, fmt.Errorf("whatif: %w", err)
	case t.snapshot == nil, t.of.Job != "" && t.snapshot.Index(t.of.Job) < 0, t.plan.Refused != "":
		return nil, fmt.Errorf("whatif: %s: %w", printable.Named("job", string(t.of.Job)), ErrUndecided)
	}
	s, d, err := rec.At(t.ctx, t.snapshot.Now)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	if s.Round != t.snapshot.Round { // nothing had happened since the policy was asked
		own := *s
		own.Round, s = t.snapshot.Round, &own
	}
	h := r.Header()
	passed := max(0, h.Start.Add(t.of.At).Sub(t.snapshot.Now))
	return &Round{t.of.Job, s, t.plan, d, t.ahead, t.ahead.Ended(), passed}, nil
}

func (t *replayed) replay(r *journal.Reader, c *journal.Checkpoint, m *runState, so scheduler.Options, o *Options) (*counterfactual.Recorder, error) {
	h := r.Header()
	if t.ahead == nil {
		t.ahead = NewPredictor(o.Fresh, so, h.Cluster.Types())
		t.ahead.options.Coarse = coarseShare
	}
	t.ahead.learn, t.ahead.record = m.learner, m.record
	rec := counterfactual.NewRecorder(m.policy, o.Fresh, copyRounds)
	rec.Until = h.Start.Add(t.of.At)
	t.ahead.Decided = t.decided(m.policy, rec, o.Fresh)
	s, err := scheduler.New(rec, m.placer, h.Cluster, so)
	if err != nil {
		return nil, err
	}
	if c == nil {
		err = s.Run(t.ctx, &ending{journal.Replay(r), rec.Until}, t)
	} else {
		s.Remember(m.scheduler)
		err = s.Resume(t.ctx, &ending{journal.Resume(r, c), rec.Until}, t)
	}
	if errors.Is(err, journal.ErrTruncated) {
		err = nil // earlier records are valid
	}
	return rec, err
}

// decided returns a Decided for the last round of a replay, which ends there: the policy itself is in the state after
// the round.
func (t *replayed) decided(p policy.Policy, rec *counterfactual.Recorder, fresh counterfactual.Fresh) Decided {
	copied := DecidedBy(p, fresh)
	return func(ctx context.Context, at time.Time) (policy.Policy, placement.Placer, policy.Work, error) {
		if t.plan.Background == nil && t.snapshot.Now.Equal(at) {
			return copied(ctx, at)
		}
		return rec.After(ctx, at)
	}
}

func (t *replayed) Event(now time.Time, ev scheduler.Event) { t.ahead.Event(now, ev) }

func (t *replayed) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	if s == nil {
		return
	}
	t.snapshot, t.plan = s, p
	t.ahead.Round(s, p, acts)
	if t.rounds++; t.every > 0 && t.rounds%t.every == 0 && len(s.Jobs) <= mostLooked {
		t.ahead.LookFor(t.ctx)
	}
}

// Expect predicts when the jobs called ids (none: all jobs) start and end, counted from the round. The result may
// include further jobs. It is nil if the simulation fails.
func (r *Round) Expect(ctx context.Context, ids ...job.ID) map[job.ID]ETA {
	s, o := r.ahead.State()
	o.Awaited = ids
	found, err := Ahead(ctx, s, o)
	if err != nil {
		return nil
	}
	all := map[job.ID]ETA{}
	for _, e := range r.ahead.ranges(s, found) {
		if o.awaits(e.Job) || e.End.Why == Known && !e.End.Open {
			all[e.Job] = e
		}
	}
	return all
}

type ending struct {
	scheduler.Backend
	at time.Time
}

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
