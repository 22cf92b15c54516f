package driver

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A Prediction is what is expected of one job.
type Prediction struct {
	ETA     whatif.ETA // relative to From
	From    time.Time  // of the round that it was predicted from; zero: ETA is not known
	Unblock string     // the cheapest change that would give it GPUs, in a clause; empty: not known
}

// Bounds of what predictions may cost.
const (
	longestLook = 10 * time.Second // limit of one look
	restFactor  = 9                // the pause after a look, over the time that the look took
	mostWaiting = 20               // number of waiting jobs, the first ones, whose Unblock is computed
	quietLook   = time.Minute      // between looks while nothing happens, as plans are written no more often then
)

// A predictor computes Predictions beside the rounds of a scheduler. It looks ahead after a
// round that does something or that events came before; one look runs at a time, and looks
// take a tenth of the time at most. It is a scheduler.Observer.
type predictor struct {
	log   *slog.Logger // nil: nothing is logged
	queue string
	ahead *whatif.Predictor // set before the first round
	again *redecider        // likewise
	wake  chan struct{}     // holds an item if a look is due

	news  bool      // an event came since the last wake-up; the scheduler's goroutine has it
	woken time.Time // the last wake-up, in the scheduler's time; the scheduler's goroutine has it

	mu   sync.Mutex
	last map[job.ID]Prediction // nil before the first look; never changed once it is here
}

var _ scheduler.Observer = (*predictor)(nil)

func newPredictor(log *slog.Logger, queue string) *predictor {
	return &predictor{log: log, queue: queue, wake: make(chan struct{}, 1)}
}

// Predictions returns what the last look predicts, by job; nil before the first, or if
// Options.Predict is not set. The caller must not change it.
func (d *Driver) Predictions() map[job.ID]Prediction {
	if d.predictor == nil {
		return nil
	}
	return d.predictor.predictions()
}

// Look returns when the jobs of the last round are to start and end, and the time of that
// round. It computes if the last round is new, for whatif.Patience at most, and returns what
// an earlier look said if that is too short; nil if nothing is known.
func (d *Driver) Look(ctx context.Context) (map[job.ID]whatif.ETA, time.Time) {
	if d.ahead == nil {
		return nil, time.Time{}
	}
	return d.ahead.Look(ctx)
}

// Event implements scheduler.Observer.
func (p *predictor) Event(now time.Time, ev scheduler.Event) {
	p.ahead.Event(now, ev)
	p.news = true
}

// Round implements scheduler.Observer.
func (p *predictor) Round(s *policy.Snapshot, plan *policy.Plan, acts []scheduler.Action) {
	p.ahead.Round(s, plan, acts)
	if p.news || len(acts) > 0 || s.Now.Sub(p.woken) >= quietLook {
		p.news, p.woken = false, s.Now
		Wake(p.wake)
	}
}

func (p *predictor) predictions() map[job.ID]Prediction {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// run looks ahead whenever it is woken, until ctx is done, and returns nil.
func (p *predictor) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.wake:
		}
		began := time.Now()
		if err := p.look(ctx); err != nil && p.log != nil {
			p.log.Warn("what is expected of jobs is not known", "queue", p.queue, "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restFactor * time.Since(began)):
		}
	}
}

// look predicts once. Predictions are for people only, so a panic becomes an error: it must
// not end the scheduler.
func (p *predictor) look(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("looking ahead panicked: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, longestLook)
	defer cancel()
	etas, from := p.ahead.Look(ctx)
	s, _ := p.ahead.Last()
	if s == nil {
		return nil
	}
	all := make(map[job.ID]Prediction, len(etas))
	for id, e := range etas {
		all[id] = Prediction{ETA: e, From: from}
	}
	p.unblock(ctx, s, whatif.Ends(etas, s.Now.Sub(from)), all)
	if ctx.Err() != nil && len(etas) == 0 {
		return fmt.Errorf("not found out in %v: %w", longestLook, ctx.Err())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = all
	return nil
}

// unblock adds to predictions what would help the first jobs that wait; ends says in how long others end. Where there is no
// time to compute it anew, it stays what it was.
func (p *predictor) unblock(ctx context.Context, s *policy.Snapshot, ends map[job.ID]time.Duration, all map[job.ID]Prediction) {
	waiting, before := firstWaiting(s), p.predictions()
	if len(waiting) == 0 {
		return
	}
	round, err := p.again.last(ctx)
	for _, j := range waiting {
		x := all[j.ID]
		x.Unblock = before[j.ID].Unblock
		if err == nil {
			if change, err := round.find(ctx, j.ID, ends); err == nil {
				x.Unblock = clause(change, s)
			}
		}
		all[j.ID] = x
	}
}

// firstWaiting returns the first mostWaiting jobs of a snapshot that hold no GPUs and are not being profiled.
func firstWaiting(s *policy.Snapshot) []*policy.Job {
	var all []*policy.Job
	for _, j := range s.Jobs {
		if !j.Holding() && j.Phase != job.Profiling && len(all) < mostWaiting {
			all = append(all, j)
		}
	}
	return all
}

// clause returns a change in words, with jobs as pages call them. It leaves out
// how long it is until that job ends: the clause is read later, and beside it the end.
func clause(c *counterfactual.Change, s *policy.Snapshot) string {
	then := *c
	then.In, then.Start = -1, 0
	return then.Text(func(id job.ID) string {
		if j := s.Job(id); j != nil {
			return explain.Called(j.Spec)
		}
		return string(id)
	})
}
