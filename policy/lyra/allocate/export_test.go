package allocate

import "context"

// Allocate makes one plan; it is that of a new Allocator.
func Allocate(ctx context.Context, jobs []Job, c Capacity, o Options) (*Plan, error) {
	return new(Allocator).Allocate(ctx, jobs, c, o)
}

// Lossy returns the speed of a job of so many workers to which each one more adds less than
// one by this share. Source: Lyra §7.2, "when one more worker is added to a job, we add a 20%
// loss to the throughput brought by this worker".
func Lossy(least int, loss float64) func(workers int) float64 {
	return func(workers int) float64 {
		return float64(workers) - loss*float64(max(0, workers-least))
	}
}
