package whatif

import (
	"context"
	"sync"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Patience is how long one who asks should wait for a look ahead.
const Patience = 3 * time.Second

// A Predictor says when jobs will start and end: asked, it simulates what the last round left.
type Predictor struct {
	// Explained, if not nil, is told of when a new prediction is. Set it before the first look.
	Explained func(time.Time)
	options   Options

	one   sync.Mutex       // held while looking ahead
	tried *policy.Snapshot // looked ahead from last, in vain or not
	etas  []ETA
	of    *policy.Snapshot // that etas are of

	mu    sync.Mutex
	learn *Learner
	last  *policy.Snapshot // nil: no round yet
}

// NewPredictor returns a Predictor on a cluster of such types.
func NewPredictor(fresh func() (policy.Policy, placement.Placer, error), so scheduler.Options, types []cluster.TypeInfo) *Predictor {
	o := DefaultOptions(fresh)
	so.Estimate.Types = types
	o.Scheduler = so
	return &Predictor{options: o, learn: NewLearner(so.Estimate)}
}

// Event implements scheduler.Observer.
func (l *Predictor) Event(now time.Time, ev scheduler.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn.Event(now, ev)
}

// Round implements scheduler.Observer.
func (l *Predictor) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn.Round(s, p, acts)
	l.last = s
}

// State returns the last snapshot and how to look ahead from it; nil before the first.
func (l *Predictor) State() (*policy.Snapshot, Options) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.options
	if l.last != nil {
		o.Measured, o.Spread, o.Between = l.learn.Measured(), l.learn.Spread(), l.learn.Between(l.last.Now)
	}
	return l.last, o
}

// Look returns what becomes of the jobs of the last round, and the time of that; of an
// earlier one if it takes too long to say, which is tried once a round, and nothing if
// nothing is known.
func (l *Predictor) Look(ctx context.Context) (map[job.ID]ETA, time.Time) {
	l.one.Lock()
	defer l.one.Unlock()
	s, o := l.State()
	if s == nil {
		return nil, time.Time{}
	}
	if l.tried != s {
		soon, cancel := context.WithTimeout(ctx, Patience)
		defer cancel()
		if etas, err := Ahead(soon, s, o); err == nil {
			l.etas, l.of = etas, s
			if l.Explained != nil {
				l.Explained(s.Now)
			}
		}
		if ctx.Err() == nil { // else who asked is gone, and the next one tries
			l.tried = s
		}
	}
	if l.of == nil {
		return nil, time.Time{}
	}
	all := make(map[job.ID]ETA, len(l.etas))
	for _, e := range l.etas {
		all[e.Job] = e
	}
	return all, l.of.Now
}
