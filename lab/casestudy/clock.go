package casestudy

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// A Clock returns the processor time that the program has used so far. A nil Clock always reads 0.
type Clock func() time.Duration

// Read returns the processor time used so far.
func (c Clock) Read() time.Duration {
	if c == nil {
		return 0
	}
	return c()
}

// Makespan returns when the last of the jobs ends. They start in the given order, each on the core that is free first.
// It panics if cores is below 1. Source: thesis §5.2 ("estimated parallel runtimes computed mathematically for 64
// cores").
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

// Quantile returns the smallest duration such that at least a fraction q of all durations is not above it. The
// durations may be in any order.
func Quantile(all []time.Duration, q float64) time.Duration {
	return metrics.Quantile(slices.Sorted(slices.Values(all)), q)
}
