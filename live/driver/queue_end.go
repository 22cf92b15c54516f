package driver

import (
	"context"
	"sync"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// An ending is what a backend waits for before it is over.
type ending struct {
	draining  bool // it ends when its jobs have ended
	computing int  // background work that is under way
}

// Compute does background work in a goroutine of its own, and emits its result under the lock that guards the queue.
func (q *Queue) Compute(ctx context.Context, lock sync.Locker, work policy.Work) {
	q.computing++
	go func() {
		result := work.Do(ctx)
		lock.Lock()
		defer lock.Unlock()
		q.computing--
		q.Emit(scheduler.Computed{Result: result})
	}()
}

// Drain has the backend end once all has ended.
func (q *Queue) Drain() {
	q.draining = true
	q.Wake()
}

// Draining reports whether Drain was called.
func (q *Queue) Draining() bool { return q.draining }

// Over reports whether nothing can happen any more after Drain: there are so many jobs, no event is left, and no background work is
// under way.
func (q *Queue) Over(jobs int) bool {
	return q.draining && jobs == 0 && q.Len() == 0 && q.computing == 0
}
