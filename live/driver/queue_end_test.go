package driver_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/scheduler"
)

// After Drain a backend is over once there are no jobs, background work has ended, and its result is taken; before Drain it never is.
func TestOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lock sync.Mutex
		q, finish := driver.NewQueue(), make(chan struct{})
		is := func(want bool, jobs int, when string) {
			t.Helper()
			lock.Lock()
			defer lock.Unlock()
			if got := q.Over(jobs); got != want {
				t.Errorf("%s: over is %t, want %t", when, got, want)
			}
		}
		is(false, 0, "before Drain")
		q.Compute(t.Context(), &lock, func(context.Context) any { <-finish; return nil })
		q.Drain()
		is(false, 0, "while work is under way")
		close(finish)
		synctest.Wait()
		is(false, 0, "before its result is taken")
		if _, computed := q.Take(q.Present()).(scheduler.Computed); !computed {
			t.Error("no result")
		}
		is(false, 1, "with a job")
		is(true, 0, "at the end")
	})
}
