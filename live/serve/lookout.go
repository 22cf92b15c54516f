package serve

import (
	"context"
	"sync"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/twin"
)

// patience is how long one who asks waits for a look ahead.
const patience = 3 * time.Second

// A lookout says when jobs will start and end: asked, it simulates what the last round left.
type lookout struct {
	options twin.Options

	one   sync.Mutex       // held while looking ahead
	tried *policy.Snapshot // looked ahead from last, in vain or not
	etas  []twin.ETA
	of    *policy.Snapshot // that etas are of

	mu    sync.Mutex
	learn *twin.Learner
	last  *policy.Snapshot // nil: no round yet
}

// newLookout returns a lookout on a cluster of such types.
func newLookout(fresh func() (policy.Policy, placement.Placer, error), so scheduler.Options, types []cluster.TypeInfo) *lookout {
	o := twin.DefaultOptions(fresh)
	so.Estimate.Types = types
	o.Scheduler = so
	return &lookout{options: o, learn: twin.NewLearner(so.Estimate)}
}

// Event implements scheduler.Observer.
func (l *lookout) Event(now time.Time, ev scheduler.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn.Event(now, ev)
}

// Round implements scheduler.Observer.
func (l *lookout) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn.Round(s, p, acts)
	l.last = s
}

// state returns the last snapshot and how to look ahead from it; nil before the first.
func (l *lookout) state() (*policy.Snapshot, twin.Options) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.options
	if l.last != nil {
		o.Measured, o.Spread, o.Between = l.learn.Measured(), l.learn.Spread(), l.learn.Between(l.last.Now)
	}
	return l.last, o
}

// look returns what becomes of the jobs of the last round, and the time of that; of an
// earlier one if it takes too long to say, which is tried once a round, and nothing if
// nothing is known.
func (l *lookout) look(ctx context.Context) (map[job.ID]twin.ETA, time.Time) {
	l.one.Lock()
	defer l.one.Unlock()
	s, o := l.state()
	if s == nil {
		return nil, time.Time{}
	}
	if l.tried != s {
		soon, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if etas, err := twin.Ahead(soon, s, o); err == nil {
			l.etas, l.of = etas, s
		}
		if ctx.Err() == nil { // else who asked is gone, and the next one tries
			l.tried = s
		}
	}
	if l.of == nil {
		return nil, time.Time{}
	}
	all := make(map[job.ID]twin.ETA, len(l.etas))
	for _, e := range l.etas {
		all[e.Job] = e
	}
	return all, l.of.Now
}
