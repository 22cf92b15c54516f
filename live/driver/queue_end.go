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

// Compute runs work in a new goroutine. When it ends, Compute locks lock and adds the result as an event.
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

// Drain requests that the backend ends once all jobs have ended.
func (q *Queue) Drain() {
	q.draining = true
	q.Wake()
}

// Draining reports whether Drain was called.
func (q *Queue) Draining() bool { return q.draining }

// Over reports whether the backend can end after Drain: jobs, the number of remaining jobs, is 0, and there are no
// events and no background work.
func (q *Queue) Over(jobs int) bool {
	return q.draining && jobs == 0 && q.Len() == 0 && q.computing == 0
}
