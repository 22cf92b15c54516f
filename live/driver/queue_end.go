package driver

import (
	"context"
	"sync"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

type ending struct {
	draining  bool
	computing int // background tasks that run
}

// Compute runs background work in a new goroutine, and adds its result as an event, under lock.
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

// Drain makes the backend end once all jobs have ended.
func (q *Queue) Drain() {
	q.draining = true
	q.Wake()
}

// Draining reports whether Drain was called.
func (q *Queue) Draining() bool { return q.draining }

// Over reports whether nothing can happen any more after Drain: jobs is 0, and there are no events and no
// background work.
func (q *Queue) Over(jobs int) bool {
	return q.draining && jobs == 0 && q.Len() == 0 && q.computing == 0
}
