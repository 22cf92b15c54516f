package driver_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/scheduler"
)

func exited(q *driver.Queue, deadline time.Time) string {
	if ev, ok := q.Take(deadline).(scheduler.Exited); ok {
		return string(ev.Job)
	}
	return ""
}

// Events are taken in order, up to the deadline, and make their time the present; so does a
// deadline that has come.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := driver.NewQueue()
		start := q.Now()
		time.Sleep(time.Second)
		q.Emit(scheduler.Exited{Job: "a"})
		time.Sleep(2 * time.Second)
		q.Emit(scheduler.Exited{Job: "b"})
		if got := exited(q, start.Add(2*time.Second)); got != "a" || !q.Now().Equal(start.Add(time.Second)) {
			t.Errorf("took %q at %v, want a after 1 s", got, q.Now().Sub(start))
		}
		if got := exited(q, start.Add(2*time.Second)); got != "" || q.Len() != 1 {
			t.Errorf("took %q with %d left, want nothing before its time", got, q.Len())
		}
		if wait := q.Pass(start.Add(2 * time.Second)); wait != 0 || !q.Now().Equal(start.Add(2*time.Second)) {
			t.Errorf("waits %v at %v, want that the deadline has come", wait, q.Now().Sub(start))
		}
		if wait := q.Pass(start.Add(5 * time.Second)); wait != 2*time.Second || !q.Now().Equal(start.Add(2*time.Second)) {
			t.Errorf("waits %v at %v, want 2 s more", wait, q.Now().Sub(start))
		}
		is := func(ev scheduler.Event) bool { return ev.(scheduler.Exited).Job == "b" }
		if !q.Any(is) {
			t.Error("b is not there")
		}
		if q.Drop(is); q.Any(is) || q.Len() != 0 {
			t.Error("b was not taken back")
		}
	})
}

// Wait asks again when it is woken, and ends with its context.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := driver.NewQueue()
		var mu sync.Mutex // as a backend has one around its queue
		far := q.Now().Add(time.Hour)
		take := func() (scheduler.Event, time.Duration, error) {
			mu.Lock()
			defer mu.Unlock()
			if ev := q.Take(far); ev != nil {
				return ev, 0, nil
			}
			return nil, q.Pass(far), nil
		}
		time.AfterFunc(time.Minute, func() {
			mu.Lock()
			defer mu.Unlock()
			q.Emit(scheduler.Exited{Job: "a"})
		})
		if ev, err := driver.Wait(t.Context(), q.Woken(), take); err != nil || ev == nil || time.Since(far) > -58*time.Minute {
			t.Errorf("got %v, %v, want the event when it comes", ev, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if ev, err := driver.Wait(ctx, q.Woken(), take); ev != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, %v, want that the context has ended", ev, err)
		}
		if ev, err := driver.Wait(t.Context(), q.Woken(), take); ev != nil || err != nil || !q.Now().Equal(far) {
			t.Errorf("got %v, %v at %v, want the deadline", ev, err, q.Now())
		}
	})
}
