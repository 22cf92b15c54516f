package eventqueue_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/scheduler"
)

func exited(b *eventqueue.Inbox, deadline time.Time) string {
	if ev, ok := b.Take(deadline).(scheduler.Exited); ok {
		return string(ev.Job)
	}
	return ""
}

// Events are taken in order, up to the deadline, and make their time the present; so does a
// deadline that has come.
func TestInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventqueue.New()
		start := b.Now()
		time.Sleep(time.Second)
		b.Emit(scheduler.Exited{Job: "a"})
		time.Sleep(2 * time.Second)
		b.Emit(scheduler.Exited{Job: "b"})
		if got := exited(b, start.Add(2*time.Second)); got != "a" || !b.Now().Equal(start.Add(time.Second)) {
			t.Errorf("took %q at %v, want a after 1 s", got, b.Now().Sub(start))
		}
		if got := exited(b, start.Add(2*time.Second)); got != "" || b.Len() != 1 {
			t.Errorf("took %q with %d left, want nothing before its time", got, b.Len())
		}
		if wait := b.Pass(start.Add(2 * time.Second)); wait != 0 || !b.Now().Equal(start.Add(2*time.Second)) {
			t.Errorf("waits %v at %v, want that the deadline has come", wait, b.Now().Sub(start))
		}
		if wait := b.Pass(start.Add(5 * time.Second)); wait != 2*time.Second || !b.Now().Equal(start.Add(2*time.Second)) {
			t.Errorf("waits %v at %v, want 2 s more", wait, b.Now().Sub(start))
		}
		is := func(ev scheduler.Event) bool { return ev.(scheduler.Exited).Job == "b" }
		if !b.Any(is) {
			t.Error("b is not there")
		}
		if b.Drop(is); b.Any(is) || b.Len() != 0 {
			t.Error("b was not taken back")
		}
	})
}

// Wait asks again when the bell rings, and ends with its context.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventqueue.New()
		var mu sync.Mutex // as a world has one around its inbox
		far := b.Now().Add(time.Hour)
		take := func() (scheduler.Event, time.Duration, error) {
			mu.Lock()
			defer mu.Unlock()
			if ev := b.Take(far); ev != nil {
				return ev, 0, nil
			}
			return nil, b.Pass(far), nil
		}
		time.AfterFunc(time.Minute, func() {
			mu.Lock()
			defer mu.Unlock()
			b.Emit(scheduler.Exited{Job: "a"})
		})
		if ev, err := eventqueue.Wait(t.Context(), b.Bell(), take); err != nil || ev == nil || time.Since(far) > -58*time.Minute {
			t.Errorf("got %v, %v, want the event when it comes", ev, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if ev, err := eventqueue.Wait(ctx, b.Bell(), take); ev != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, %v, want that the context has ended", ev, err)
		}
		if ev, err := eventqueue.Wait(t.Context(), b.Bell(), take); ev != nil || err != nil || !b.Now().Equal(far) {
			t.Errorf("got %v, %v at %v, want the deadline", ev, err, b.Now())
		}
	})
}
