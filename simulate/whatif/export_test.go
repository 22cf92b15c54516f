package whatif

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// Whys returns every reason of the closed list.
func Whys() []Why { return []Why{Known, NoTarget, NoSpeed, Beyond, TooLong} }

// Stating calls a function with each guess that is recorded.
func (l *Predictor) Stating(f func(*policy.Snapshot, calibration.Phase, job.ID, Guess)) {
	l.stating = f
}

// RoundFromStart is RoundIn without going on from a checkpoint.
func RoundFromStart(ctx context.Context, f *journal.File, of Moment, o Options) (*Round, error) {
	r, err := f.Start()
	if err != nil {
		return nil, err
	}
	h := f.Header()
	m, so, err := o.began(&h)
	if err != nil {
		return nil, err
	}
	return (&replayed{of: of, ctx: ctx}).round(r, nil, m, so, &o)
}

// Expect is Round.Expect, by what the Checkpointer's own Predictor knows.
func (c *Checkpointer) Expect(ctx context.Context) map[job.ID]ETA {
	return (&Round{ahead: c.ahead}).Expect(ctx)
}

// Decided returns what the round decided on, and what it decided.
func (r *Round) Decided() (*policy.Snapshot, *policy.Plan) { return r.snapshot, r.plan }

// Every makes a checkpoint come after each so many bytes.
func (c *Checkpointer) Every(n int64) { c.every, c.share, c.due = n, 0, n }

// Of returns the snapshot, and the plan of its round, as they would be.
func (q *Question) Of(s *policy.Snapshot, p *policy.Plan) (*policy.Snapshot, *policy.Plan, error) {
	return q.of(s, p)
}

// Noted returns a Predictor that has guesses of another's, and simulates nothing.
func Noted() *Predictor {
	return &Predictor{one: make(chan struct{}, 1), learn: &Learner{jobs: map[job.ID]*learned{}}}
}

// NotedStart says that a job got GPUs.
func (l *Predictor) NotedStart(now time.Time, id job.ID) {
	if l.record != nil {
		l.record.Started(now, id)
	}
}

// NotedEnd says that a job has ended.
func (l *Predictor) NotedEnd(now time.Time, id job.ID, done bool) {
	if l.record != nil {
		l.record.Ended(now, id, done)
	}
}

// Noted returns the range of a guess, and records it.
func (l *Predictor) Noted(now time.Time, round time.Duration, p calibration.Phase, t Times) ETA {
	if l.record == nil {
		l.record = calibration.New(round)
	}
	j := &policy.Job{Spec: &job.Spec{ID: t.Job}}
	s := &policy.Snapshot{Now: now, Jobs: []*policy.Job{j}, Length: round}
	plan := &policy.Plan{Jobs: make([]policy.Decision, 1)}
	if p == calibration.RunningEnd {
		plan.Jobs[0].Allocation.GPUs = 1
	}
	l.learn.jobs[t.Job], l.last, l.plan = &learned{}, s, plan
	return l.ranges(s, []Times{t})[0]
}

// CountRows adds the rows of all snapshots that a simulation with these options plans to a counter.
func (o *Options) CountRows(in *int) { o.rows = in }
