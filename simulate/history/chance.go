package history

import (
	"context"
	"fmt"
	"math"
)

const (
	shakes      = 8
	mostShaken  = 5000 // jobs
	worthSaying = 0.01
)

func (q *Question) chance(ctx context.Context, a *Answer) error {
	if a.Trust.Trusted || len(a.jobs) > mostShaken || len(a.jobs) == 0 || a.replayed.MeanWait == 0 || a.Rows[0].MeanWait == 0 {
		return nil
	}
	low, high, sum := math.Inf(1), 0.0, 0.0
	for k := range shakes {
		result, _, err := q.simulate(ctx, variant{policy: q.History.Baseline, scenario: &Rigid, seed: q.Config.Sim.Seed, own: true, shaken: uint64(k + 1)})
		if err != nil {
			return err
		}
		f := Compare(q.History.Jobs(), "", nil, result.Result).Figures(a.GPUs, Run(0))
		low, high, sum = min(low, f.Wait), max(high, f.Wait), sum+f.Wait
	}
	was := max(1, a.Rows[0].MeanWait)
	a.average = sum/shakes/was - 1
	if (high-low)/was < worthSaying {
		return nil
	}
	a.Trust.Causes = append(a.Trust.Causes, fmt.Sprintf("chance: with other fractions of a second, which the log leaves out, the mean wait is %+.0f to %+.0f %% off, on average %+.0f %%",
		100*(low/was-1), 100*(high/was-1), 100*a.average))
	return nil
}
