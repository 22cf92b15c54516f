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

// A Prediction estimates when one job starts and ends, and which change would help the job.
type Prediction struct {
	ETA     whatif.ETA // times relative to From
	From    time.Time  // zero if ETA is not known
	Unblock string     // cheapest change that would give the job GPUs; empty if not known
}

const (
	longestLook = 10 * time.Second
	simulates   = 3 * time.Second // part of a look for starts and ends
	restFactor  = 9               // pause after a look, as a multiple of its duration
	mostWaiting = 20
	quietLook   = time.Minute // between looks while nothing happens
)

type predictor struct {
	log   *slog.Logger // may be nil
	queue string
	ahead *whatif.Predictor
	again *redecider
	wake  chan struct{}

	news  bool      // since wake; used by the scheduler's goroutine only
	woken time.Time // in the scheduler's time; used by the scheduler's goroutine only

	mu   sync.Mutex
	last map[job.ID]Prediction // nil before the first look; never changed
}

var _ scheduler.Observer = (*predictor)(nil)

func newPredictor(log *slog.Logger, queue string) *predictor {
	return &predictor{log: log, queue: queue, wake: make(chan struct{}, 1)}
}

// Predictions returns the last predictions, or nil before the first ones. Do not change the map.
func (d *Driver) Predictions() map[job.ID]Prediction {
	if d.predictor == nil {
		return nil
	}
	return d.predictor.predictions()
}

// Look returns when the jobs of the last round are expected to start and end, and the time of that round. If the
// simulation takes longer than whatif.Patience, it returns an earlier result, or nil.
func (d *Driver) Look(ctx context.Context) (map[job.ID]whatif.ETA, time.Time) {
	if d.ahead == nil {
		return nil, time.Time{}
	}
	return d.ahead.Look(ctx)
}

func (p *predictor) Event(now time.Time, ev scheduler.Event) {
	p.ahead.Event(now, ev)
	p.news = true
}

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

func (p *predictor) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.wake:
		}
		began := time.Now()
		if err := p.look(ctx); err != nil && p.log != nil {
			p.log.Warn("cannot predict when jobs start and end", "queue", p.queue, "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restFactor * time.Since(began)):
		}
	}
}

// look predicts once. A panic becomes an error, so that it cannot end the scheduler.
func (p *predictor) look(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("prediction panicked: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, longestLook)
	defer cancel()
	soon, stop := context.WithTimeout(ctx, simulates)
	defer stop()
	etas, from := p.ahead.LookFor(soon)
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
		return fmt.Errorf("no prediction within %v: %w", longestLook, ctx.Err())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = all
	return nil
}

// unblock adds what would help the first waiting jobs. An earlier value stays if there is no time to compute a new
// one.
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

func firstWaiting(s *policy.Snapshot) []*policy.Job {
	var all []*policy.Job
	for _, j := range s.Jobs {
		if !j.Holding() && j.Phase != job.Profiling && len(all) < mostWaiting {
			all = append(all, j)
		}
	}
	return all
}

func clause(c *counterfactual.Change, s *policy.Snapshot) string {
	then := *c
	then.In = -1
	return then.Text(func(id job.ID) string {
		if j := s.Job(id); j != nil {
			return explain.Called(j.Spec)
		}
		return string(id)
	})
}
