package whatif

import (
	"context"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/whatif/calibration"
)

// Whys returns every reason of the closed list.
func Whys() []Why { return []Why{Known, NoTarget, NoSpeed, Beyond} }

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
