package slurm

import (
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

type booter interface {
	Booted(ctx context.Context) (string, error)
}

type boot struct {
	at        string    // empty: unknown
	restarted time.Time // zero: never
}

// settled reports whether slurmctld has known its nodes for a while. A killed slurmctld may have read a state from
// before the start of a job that still runs. If that job is started again too early, Slurm drains the node
// ("Duplicate jobid"). Source: observed, Slurm 22.05.
func (b *Backend) settled(ctx context.Context) (bool, error) {
	s, ok := b.o.Slurm.(booter)
	if !ok {
		return true, nil
	}
	at, err := s.Booted(ctx)
	if err != nil {
		return false, err
	}
	if b.boot.at != "" && at != b.boot.at {
		b.boot.restarted = time.Now()
	}
	b.boot.at = at
	return b.boot.restarted.IsZero() || time.Since(b.boot.restarted) >= backoff, nil
}

func (b *Backend) unsettled(ctx context.Context, steps []step) ([]step, error) {
	starts := map[client.ID]bool{}
	for i := range steps {
		if steps[i].Verb == Release {
			starts[steps[i].Job] = true
		}
	}
	if len(starts) == 0 {
		return steps, nil
	}
	ok, err := b.settled(ctx)
	if ok || err != nil {
		return steps, err
	}
	return slices.DeleteFunc(steps, func(s step) bool { return starts[s.Job] }), nil
}
