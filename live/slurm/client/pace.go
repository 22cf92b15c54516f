package client

import (
	"context"
	"sync"
	"time"
)

// DefaultPerMinute is the default limit on commands per minute. It is low because slurmctld holds a lock while it
// answers.
const DefaultPerMinute = 30

// Limited returns a Runner that starts at most perMinute commands in any minute.
func Limited(run Runner, perMinute int) Runner {
	w := &callLimit{begun: make([]time.Time, 0, perMinute), most: perMinute}
	return func(ctx context.Context, cmd Command) ([]byte, error) {
		if err := w.enter(ctx); err != nil {
			return nil, err
		}
		return run(ctx, cmd)
	}
}

type callLimit struct {
	mu    sync.Mutex
	begun []time.Time // in the last minute, earliest first
	most  int
}

func (w *callLimit) enter(ctx context.Context) error {
	for {
		wait := w.try(time.Now())
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

func (w *callLimit) try(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.begun) > 0 && now.Sub(w.begun[0]) >= time.Minute {
		w.begun = w.begun[1:]
	}
	if len(w.begun) >= w.most {
		return w.begun[0].Add(time.Minute).Sub(now)
	}
	w.begun = append(w.begun, now)
	return 0
}

// A Pace determines how often Slurm's state is read.
type Pace struct {
	Least, Most time.Duration // bounds of the interval
	Share       float64       // largest fraction of the time spent reading
	now         time.Duration
}

// DefaultPace returns a Pace that reads every 2 s during changes and every 30 s otherwise, and less often if reading
// takes more than 2 % of the time.
func DefaultPace() *Pace {
	return &Pace{Least: 2 * time.Second, Most: 30 * time.Second, Share: 0.02}
}

// Next returns how long to wait after a read. took is the duration of the read; changed states whether the state
// differed.
func (p *Pace) Next(took time.Duration, changed bool) time.Duration {
	if changed || p.now == 0 {
		p.now = p.Least
	} else {
		p.now = min(2*p.now, p.Most)
	}
	return max(p.now, time.Duration(float64(took)/p.Share))
}
