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

// Patience is the longest time for which Look simulates.
const Patience = 3 * time.Second

// A Predictor says when jobs will start and end. When it is asked, it simulates the state that
// the last round left. It is a scheduler.Observer and safe for concurrent use.
type Predictor struct {
	// Explained, if not nil, is called with the time of the snapshot of each new prediction. Set
	// it before the first call of Look.
	Explained func(time.Time)
	options   Options

	one   sync.Mutex       // held while simulating
	tried *policy.Snapshot // from which Look simulated last, with success or without
	etas  []ETA
	of    *policy.Snapshot // to which etas belong

	mu    sync.Mutex
	learn *Learner
	last  *policy.Snapshot // nil: no round yet
	plan  *policy.Plan     // for last
}

// NewPredictor returns a Predictor for a run on a cluster with these GPU types.
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
	l.last, l.plan = s, p
}

// State returns the last snapshot, and the options for Ahead with it. The snapshot is nil before
// the first round.
func (l *Predictor) State() (*policy.Snapshot, Options) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.options
	if l.last != nil {
		o.Measured, o.Spread, o.Between = l.learn.Measured(), l.learn.Spread(), l.learn.Between(l.last.Now)
	}
	return l.last, o
}

// Last returns the last snapshot and the plan for it; nil before the first round.
func (l *Predictor) Last() (*policy.Snapshot, *policy.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.plan
}

// Look returns when the jobs of the last round start and end, and the time of that round. It
// simulates at most once a round, and for at most Patience. If that is too short, it returns the
// prediction of an earlier round; if there is none, nil and a zero time.
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
		if ctx.Err() == nil { // if the caller has gone, the next call tries again
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
