package casestudy

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// A Clock reads how much processor time the process has used so far, as
// ProcessTime does. Nil reads nothing.
type Clock func() time.Duration

// Read returns what the clock shows; 0 of a nil one.
func (c Clock) Read() time.Duration {
	if c == nil {
		return 0
	}
	return c()
}

// Makespan returns when the last of the jobs ends if each starts, in order, on
// the first of the cores that is free: the time that parts, timed one after
// another, would take side by side. It panics if cores < 1. Source: thesis §5.2
// ("estimated parallel runtimes computed mathematically for 64 cores").
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

// Quantile returns metrics.Quantile of unsorted times.
func Quantile(all []time.Duration, q float64) time.Duration {
	return metrics.Quantile(slices.Sorted(slices.Values(all)), q)
}
