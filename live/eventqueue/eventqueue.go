// Package eventqueue holds the events of a live backend until its scheduler takes them, in
// logical time. Logical time is the time of the last event, or of the last deadline, that the
// scheduler took. Because of it, the journal of a live run replays to the same plans.
package eventqueue

import (
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/scheduler"
)

// A Queue holds events that have happened and that the scheduler has not taken. Make one with New.
// The caller must guard it by a lock; only the channel of Woken may be used without it.
type Queue struct {
	now   time.Time
	items []stamped // by time
	woken chan struct{}
}

// A stamped event is one with the time at which it happened.
type stamped struct {
	at time.Time
	ev scheduler.Event
}

// New returns an empty Queue whose time is now.
func New() *Queue {
	return &Queue{now: time.Now().Round(0).UTC(), woken: make(chan struct{}, 1)}
}

// Now returns the logical time.
func (q *Queue) Now() time.Time { return q.now }

// Len returns the number of events in the queue.
func (q *Queue) Len() int { return len(q.items) }

// Woken returns a channel that gets an item when there may be something to take.
func (q *Queue) Woken() <-chan struct{} { return q.woken }

// Wake wakes the goroutine that waits for the queue.
func (q *Queue) Wake() { Wake(q.woken) }

// Emit adds an event that happens now, and wakes the goroutine that waits for the queue. If the
// clock was set back, the event gets the time of the last one in the queue.
func (q *Queue) Emit(ev scheduler.Event) {
	at := time.Now().Round(0).UTC()
	if n := len(q.items); n > 0 && at.Before(q.items[n-1].at) {
		at = q.items[n-1].at
	}
	q.items = append(q.items, stamped{at, ev})
	q.Wake()
}

// Any reports whether is returns true of an event in the queue.
func (q *Queue) Any(is func(scheduler.Event) bool) bool {
	return slices.ContainsFunc(q.items, func(s stamped) bool { return is(s.ev) })
}

// Drop removes the events of which is returns true.
func (q *Queue) Drop(is func(scheduler.Event) bool) {
	q.items = slices.DeleteFunc(q.items, func(s stamped) bool { return is(s.ev) })
}

// Take removes and returns the next event, and makes its time the logical time. It returns
// nil if no event happened up to the deadline.
func (q *Queue) Take(deadline time.Time) scheduler.Event {
	if len(q.items) == 0 || q.items[0].at.After(deadline) {
		return nil
	}
	next := q.items[0]
	q.items = q.items[1:]
	if next.at.After(q.now) {
		q.now = next.at
	}
	return next.ev
}

// Pass returns how long it is until a deadline. If the deadline has come, Pass makes it the
// logical time and returns 0.
func (q *Queue) Pass(deadline time.Time) time.Duration {
	wait := time.Until(deadline)
	if wait > 0 {
		return wait
	}
	if deadline.After(q.now) {
		q.now = deadline
	}
	return 0
}

// Wait calls take until it returns an event, an error, or a time to wait of 0, and returns
// that. It calls take again when woken gets an item, and after the time that take returns. It
// returns the error of ctx once that is done.
func Wait(ctx context.Context, woken <-chan struct{}, take func() (scheduler.Event, time.Duration, error)) (scheduler.Event, error) {
	for {
		ev, wait, err := take()
		if err != nil || ev != nil || wait <= 0 {
			return ev, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-woken:
		case <-timer.C:
		}
		timer.Stop()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// Wake puts an item into a channel with room for one, unless there is one already. A goroutine that
// waits for the channel is woken now, or when it waits next.
func Wake(waiting chan<- struct{}) {
	select {
	case waiting <- struct{}{}:
	default:
	}
}
