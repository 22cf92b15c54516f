package slurm

import (
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// A booter says when its slurmctld was started, in words that are others once it is started again.
type booter interface {
	Booted(ctx context.Context) (string, error)
}

// A boot is what is known of slurmctld's start; only the executor uses it.
type boot struct {
	at   string    // when slurmctld was started; empty: it was not said
	anew time.Time // when it was seen that it was started again; zero: it was not
}

// settled reports whether slurmctld has known its nodes for a while. One that was killed may have read a state from before the start of a
// job, while its node runs it. Until it hears of that, a start there has the node drained: "Duplicate jobid". Source: observed, Slurm 22.05.
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
		b.boot.anew = time.Now()
	}
	b.boot.at = at
	return b.boot.anew.IsZero() || time.Since(b.boot.anew) >= backoff, nil
}

// unsettled returns the steps without those about jobs that would be started, if slurmctld was started lately.
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
