package serve

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

const (
	pruneEvery = time.Hour
	pruneAfter = 1000
)

func (c *controller) Prune(_ context.Context, r *control.PruneRequest) ([]statedir.Amount, error) {
	if err := r.Keep.Validate(); err != nil {
		return nil, control.Refuse("keep: %v", err)
	}
	return c.prune(c.o.Keep.With(r.Keep), r.DryRun)
}

func (c *controller) prune(l statedir.Limits, dry bool) ([]statedir.Amount, error) {
	c.pruning.Lock()
	defer c.pruning.Unlock()
	o, err := retentionOptions(c.store, c.o.Dir, l, dry)
	if err != nil {
		return nil, err
	}
	o.Journal, o.Busy = c.driver.Journal, c.backend.Busy
	return statedir.Prune(c.store, o)
}

type ends struct {
	n    int
	many chan struct{}
}

func newEnds() *ends { return &ends{many: make(chan struct{}, 1)} }

func (e *ends) Event(_ time.Time, ev scheduler.Event) {
	if x, ok := ev.(scheduler.Exited); !ok || x.Outcome == scheduler.Lost {
		return
	}
	if e.n++; e.n%pruneAfter == 0 {
		driver.Wake(e.many)
	}
}

func (*ends) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

func (c *controller) keepPruning(ctx context.Context, many <-chan struct{}) error {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		if _, err := c.prune(c.o.Keep, false); err != nil {
			c.say("%v", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-many:
		}
	}
}

func retentionOptions(s *store.Store, dir string, l statedir.Limits, dry bool) (*statedir.PruneOptions, error) {
	set, err := statedir.ClockSet(dir, dry)
	return &statedir.PruneOptions{
		Limits: l, Folders: &statedir.Folders{Dir: dir, Identity: s.Identity()}, Journals: filepath.Join(dir, journals), Now: time.Now(), ClockSet: set, DryRun: dry,
	}, err
}

// Prune deletes data beyond the limits l in the state directory dir. If dry is true, it only returns the amounts.
func Prune(dir string, l statedir.Limits, dry bool) (amounts []statedir.Amount, err error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	s, err := openPresent(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Brief(); err != nil {
		return nil, err
	}
	o, err := retentionOptions(s, dir, l, dry)
	if err != nil {
		return nil, err
	}
	if o.Busy, err = alive(o.Folders); err != nil {
		return nil, err
	}
	return statedir.Prune(s, o)
}

func openPresent(dir string) (*store.Store, error) {
	if !store.Present(dir) {
		return nil, fmt.Errorf("%s: no scheduler has used this directory", dir)
	}
	return store.Open(dir)
}

func alive(f *statedir.Folders) (func(job.ID) bool, error) {
	all, err := statedir.All(f)
	if err != nil {
		return nil, err
	}
	busy := map[job.ID]bool{}
	for _, o := range all {
		if o.State.Phase != supervisor.Ended && o.State.Phase != supervisor.Absent {
			busy[o.Job] = true
		}
	}
	return func(id job.ID) bool { return busy[id] }, nil
}
