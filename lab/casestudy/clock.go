package casestudy

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// A Clock returns the processor time used so far. It may be nil.
type Clock func() time.Duration

// Read returns the processor time used so far; 0 if the Clock is nil.
func (c Clock) Read() time.Duration {
	if c == nil {
		return 0
	}
	return c()
}

// Makespan returns when the last job ends if the jobs start in order, each on the core that is free first. cores is
// their number; Makespan panics if it is below 1. Source: thesis §5.2 ("estimated parallel runtimes computed
// mathematically for 64 cores").
func Makespan(jobs []time.Duration, cores int) time.Duration {
	free := make([]time.Duration, cores)
	for _, d := range jobs {
		i := 0
		for c := range free {
			if free[c] < free[i] {
				i = c
			}
		}
		free[i] += d
	}
	return slices.Max(free)
}

// Quantile returns the quantile q of durations in any order, by the rule of metrics.Quantile.
func Quantile(all []time.Duration, q float64) time.Duration {
	return metrics.Quantile(slices.Sorted(slices.Values(all)), q)
}
