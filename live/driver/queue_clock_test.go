package driver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/scheduler"
)

// settable returns a clock that a test can set, by changing moved.
func settable(moved *time.Duration) driver.Clock {
	began := time.Now()
	return driver.Clock{
		Wall:    func() time.Time { return time.Now().Add(*moved) },
		Elapsed: func() time.Duration { return time.Since(began) },
	}
}

// Setting the machine's clock changes no wait and no time of an event, and is not hidden.
func TestQueue_when_the_clock_is_set(t *testing.T) {
	for _, by := range []time.Duration{-24 * time.Hour, -time.Hour, time.Hour, 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var moved time.Duration
			q := driver.NewQueueWithClock(settable(&moved))
			start := q.Now()
			moved = by
			if wait := q.Pass(start.Add(30 * time.Second)); wait != 30*time.Second {
				t.Errorf("set by %v: the round is %v away, want 30s", by, wait)
			}
			time.Sleep(10 * time.Second)
			q.Emit(scheduler.Exited{Job: "a"})
			if got := exited(q, start.Add(10*time.Second)); got != "a" || q.Now().Sub(start) != 10*time.Second {
				t.Errorf("set by %v: took %q at %v, want a at 10s", by, got, q.Now().Sub(start))
			}
			if got := q.ClockMoved(); got != by {
				t.Errorf("set by %v: says that it moved by %v", by, got)
			}
		})
	}
}

// What was slept through is not caught up, and a little lateness changes nothing.
func TestPass_after_a_sleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := driver.NewQueue()
		start := q.Now()
		time.Sleep(31 * time.Second)
		if wait := q.Pass(start.Add(30 * time.Second)); wait != 0 || q.Now().Sub(start) != 30*time.Second {
			t.Errorf("a second late: waits %v at %v, want 0 at 30s", wait, q.Now().Sub(start))
		}
		time.Sleep(24 * time.Hour)
		if wait := q.Pass(start.Add(time.Minute)); wait != 0 || q.Now().Sub(start) != 24*time.Hour+31*time.Second {
			t.Errorf("a day late: waits %v at %v, want 0 at the present", wait, q.Now().Sub(start))
		}
	})
}

// A deadline soon after the last one, as of a submission round, is as little caught up too early: a
// replay would not find the round then.
func TestPass_with_rounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := driver.NewQueue()
		q.Round = time.Minute
		start := q.Now()
		time.Sleep(21 * time.Second)
		if wait := q.Pass(start.Add(time.Second)); wait != 0 || q.Now().Sub(start) != time.Second {
			t.Errorf("20 s late, of a round of a minute: waits %v at %v, want 0 at 1s", wait, q.Now().Sub(start))
		}
		time.Sleep(time.Minute)
		if wait := q.Pass(start.Add(20 * time.Second)); wait != 0 || q.Now().Sub(start) != 81*time.Second {
			t.Errorf("a minute late: waits %v at %v, want 0 at the present", wait, q.Now().Sub(start))
		}
	})
}

// What is emitted before the beginning is taken before the first round, however long it took.
func TestBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := driver.NewQueue()
		time.Sleep(time.Hour)
		q.Emit(scheduler.Exited{Job: "a"})
		q.Begin()
		if got := exited(q, q.Now().Add(time.Second)); got != "a" {
			t.Errorf("took %q before the first round, want a", got)
		}
	})
}
