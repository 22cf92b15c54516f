package slurm

import (
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// A booter returns when its slurmctld started, as text that differs after a restart.
type booter interface {
	Booted(ctx context.Context) (string, error)
}

// A boot is the known start of slurmctld. Only the executor uses it.
type boot struct {
	at        string    // when slurmctld started; empty: unknown
	restarted time.Time // when a restart was noticed; zero: none was
}

// settled reports whether slurmctld has known its nodes for a while. A slurmctld that was killed may have read
// a state from before the start of a job that a node still runs. If the job is started again before slurmctld
// learns of this, Slurm drains the node ("Duplicate jobid"). Source: observed, Slurm 22.05.
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

// unsettled removes the steps about jobs to be started if slurmctld restarted recently.
func (b *Backend) unsettled(ctx context.Context, steps []Step) ([]Step, error) {
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
	return slices.DeleteFunc(steps, func(s Step) bool { return starts[s.Job] }), nil
}
