package cli

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxgang/oxgang/internal/usage"
)

// ErrBudget is the cause with which a context ends when its processor time is used up.
var ErrBudget = errors.New("the limit of processor time is reached")

const budgetTick = 20 * time.Millisecond

// WithBudget returns a context that is cancelled, with cause ErrBudget, when the process has used a further budget of
// processor time, over all threads. cancel frees its resources.
func WithBudget(ctx context.Context, budget time.Duration) (_ context.Context, cancel context.CancelFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	if budget <= 0 {
		stop(ErrBudget)
	}
	end := usage.ProcessTime() + budget
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(budgetTick):
				if usage.ProcessTime() > end {
					stop(ErrBudget)
				}
			}
		}
	})
	return ctx, func() {
		stop(context.Canceled)
		watch.Wait()
	}
}

var leastGrowth atomic.Int64

// Hurry lets the heap double between collections, for a command that answers one question
// and ends.
func Hurry() { leastGrowth.Store(100) }

// LeastGrowth returns the least growth of the heap between two collections, in per cent; 0: the default.
func LeastGrowth() int64 { return leastGrowth.Load() }
