package driver

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/scheduler"
)

// A Queue holds events that have happened and that the scheduler has not taken. Make one with NewQueue.
// The caller must guard it by a lock; only the channel of Woken may be used without it.
type Queue struct {
	// Round is the time between regular rounds. A deadline that is missed by as much is not caught
	// up. Default 0: the time since the last deadline.
	Round time.Duration

	clock Clock
	start time.Time // at which Clock.Elapsed is 0
	last  time.Time // the last deadline that passed
	now   time.Time
	items []stamped // by time
	woken chan struct{}
	ending
}

// A stamped event is one with the time at which it happened.
type stamped struct {
	at time.Time
	ev scheduler.Event
}

// A Clock tells a Queue the time. Wall is the clock of the machine, which people set. Elapsed is
// the time since the Clock was made; it grows evenly, whatever is done to the clock of the machine.
type Clock struct {
	Wall    func() time.Time
	Elapsed func() time.Duration
}

// NewQueue returns an empty Queue whose time is now.
func NewQueue() *Queue {
	start := time.Now()
	return NewQueueWithClock(Clock{Wall: time.Now, Elapsed: func() time.Duration { return time.Since(start) }})
}

// NewQueueWithClock returns an empty Queue whose time is that of a Clock.
func NewQueueWithClock(c Clock) *Queue {
	start := c.Wall().Round(0).UTC().Add(-c.Elapsed())
	q := &Queue{clock: c, start: start, woken: make(chan struct{}, 1)}
	q.now = q.Present()
	q.last = q.now
	return q
}

// Present returns the time at which an event that happens now is stamped: that of the machine's
// clock when the Queue was made, and what has passed since. It never goes back or leaps.
func (q *Queue) Present() time.Time { return q.start.Add(q.clock.Elapsed()) }

// Begin makes the present the logical time. Call it once what is restored was emitted, however long
// that took: the first round then knows all of it.
func (q *Queue) Begin() { q.now, q.last = q.Present(), q.Present() }

// ClockMoved returns how far the clock of the machine is ahead of Present, because it was set
// while the Queue lived. It is negative if the clock was set back. The machine's sleep counts too.
func (q *Queue) ClockMoved() time.Duration { return q.clock.Wall().Round(0).Sub(q.Present()) }

// Now returns the logical time.
func (q *Queue) Now() time.Time { return q.now }

// Len returns the number of events in the queue.
func (q *Queue) Len() int { return len(q.items) }

// Woken returns a channel that gets an item when there may be something to take.
func (q *Queue) Woken() <-chan struct{} { return q.woken }

// Wake wakes the goroutine that waits for the queue.
func (q *Queue) Wake() { Wake(q.woken) }

// Emit adds an event that happens now, and wakes the goroutine that waits for the queue.
func (q *Queue) Emit(ev scheduler.Event) {
	q.items = append(q.items, stamped{q.Present(), ev})
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

// Until returns how long it is until a deadline; 0 or less if it has come.
func (q *Queue) Until(deadline time.Time) time.Duration { return deadline.Sub(q.Present()) }

// Pass returns how long it is until a deadline. If the deadline has come, Pass makes it the
// logical time and returns 0. If another round could have passed since (Queue.Round), the present becomes the logical time: what was slept through is not
// caught up.
func (q *Queue) Pass(deadline time.Time) time.Duration {
	wait := q.Until(deadline)
	if wait > 0 {
		return wait
	}
	then := deadline
	if late := -wait; late >= cmp.Or(q.Round, deadline.Sub(q.last)) {
		then = q.Present()
	}
	if then.After(q.now) {
		q.now = then
	}
	q.last = then
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
