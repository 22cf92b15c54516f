package driver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Queue has the events that the scheduler has not processed yet, and the scheduler's time. Only the channel of Woken
// is safe for concurrent use.
type Queue struct {
	// Round is the time between regular rounds; 0: the time since the last deadline.
	Round time.Duration

	clock Clock
	start time.Time
	last  time.Time
	now   time.Time
	items []stamped // by time
	woken chan struct{}
	ending
}

type stamped struct {
	at time.Time
	ev scheduler.Event
}

// A Clock provides a Queue's time. Wall is the machine's clock, which an administrator may set; Elapsed is the
// monotonic time since the Clock was made.
type Clock struct {
	Wall    func() time.Time
	Elapsed func() time.Duration
}

// NewQueue returns an empty Queue whose time is now.
func NewQueue() *Queue {
	start := time.Now()
	return NewQueueWithClock(Clock{Wall: time.Now, Elapsed: func() time.Duration { return time.Since(start) }})
}

// NewQueueWithClock returns a Queue without events whose time comes from c.
func NewQueueWithClock(c Clock) *Queue {
	start := c.Wall().Round(0).UTC().Add(-c.Elapsed())
	q := &Queue{clock: c, start: start, woken: make(chan struct{}, 1)}
	q.now = q.Present()
	q.last = q.now
	return q
}

// Present returns the time of an event that happens now: the wall time when the queue was made, plus the time elapsed
// since.
func (q *Queue) Present() time.Time { return q.start.Add(q.clock.Elapsed()) }

// Begin sets the scheduler's time to the present. Call it after adding all restored jobs, so that the first round
// includes them.
func (q *Queue) Begin() { q.now, q.last = q.Present(), q.Present() }

// ClockMoved returns by how much the machine's clock is ahead of Present. It is negative if the clock is behind.
func (q *Queue) ClockMoved() time.Duration { return q.clock.Wall().Round(0).Sub(q.Present()) }

// Now returns the scheduler's time, which is the time of the last event or round.
func (q *Queue) Now() time.Time { return q.now }

// Len returns the number of events in the queue.
func (q *Queue) Len() int { return len(q.items) }

// Woken returns a channel that receives an item when there may be a new event or a round.
func (q *Queue) Woken() <-chan struct{} { return q.woken }

// Wake wakes the goroutine that waits for the queue.
func (q *Queue) Wake() { Wake(q.woken) }

// Emit adds an event that happens now.
func (q *Queue) Emit(ev scheduler.Event) {
	q.items = append(q.items, stamped{q.Present(), ev})
	q.Wake()
}

// Any reports whether matches returns true for some event in the queue.
func (q *Queue) Any(matches func(scheduler.Event) bool) bool {
	return slices.ContainsFunc(q.items, func(s stamped) bool { return matches(s.ev) })
}

// Drop removes the events for which matches returns true.
func (q *Queue) Drop(matches func(scheduler.Event) bool) {
	q.items = slices.DeleteFunc(q.items, func(s stamped) bool { return matches(s.ev) })
}

// Take removes the next event and sets the scheduler's time to the event's time. It returns nil if no event is before
// deadline.
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

func (q *Queue) until(deadline time.Time) time.Duration { return deadline.Sub(q.Present()) }

// Pass returns the time from now until deadline. If deadline has passed, it returns 0 and sets the scheduler's time to
// deadline, or to the present if deadline was missed by a round or more (Queue.Round).
func (q *Queue) Pass(deadline time.Time) time.Duration {
	wait := q.until(deadline)
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

// Wait waits for the next event. It calls take until this returns an event, an error or a wait of 0. Between calls it
// waits as long as take requests, or until woken receives an item.
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

// Wake puts an item into a channel with room for one, unless the channel is full.
func Wake(waiting chan<- struct{}) {
	select {
	case waiting <- struct{}{}:
	default:
	}
}

type ending struct {
	draining  bool
	computing int // background tasks that run
}

// Compute runs work in a new goroutine. When work ends, Compute locks lock and adds the result as an event.
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

// Over reports whether the backend can end after Drain: no jobs (jobs is their number), no events and no background
// work are left.
func (q *Queue) Over(jobs int) bool {
	return q.draining && jobs == 0 && q.Len() == 0 && q.computing == 0
}
