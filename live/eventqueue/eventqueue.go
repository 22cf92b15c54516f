// Package eventqueue is what the worlds of live jobs have in common: a queue of events in logical
// time. The time is that of the last event, or of the deadline, that was taken, so that a
// journal of such a world replays to the same plans.
package eventqueue

import (
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/scheduler"
)

// An Inbox is a queue of events that have happened and were not taken yet. Make one with New.
// Its owner's lock guards it; Bell may be listened to without.
type Inbox struct {
	now   time.Time
	queue []stamped // by time
	bell  chan struct{}
}

// A stamped event is one with the time at which it happened.
type stamped struct {
	at time.Time
	ev scheduler.Event
}

// New returns an empty Inbox whose time is now.
func New() *Inbox {
	return &Inbox{now: time.Now().Round(0).UTC(), bell: make(chan struct{}, 1)}
}

// Now returns the logical time.
func (b *Inbox) Now() time.Time { return b.now }

// Len returns the number of events that wait.
func (b *Inbox) Len() int { return len(b.queue) }

// Bell is heard when there may be something to take.
func (b *Inbox) Bell() <-chan struct{} { return b.bell }

// Ring rings the bell.
func (b *Inbox) Ring() { Ring(b.bell) }

// Emit queues an event that happens now.
func (b *Inbox) Emit(ev scheduler.Event) {
	at := time.Now().Round(0).UTC()
	if n := len(b.queue); n > 0 && at.Before(b.queue[n-1].at) { // the clock was set back
		at = b.queue[n-1].at
	}
	b.queue = append(b.queue, stamped{at, ev})
	b.Ring()
}

// Any reports whether an event waits of which is returns true.
func (b *Inbox) Any(is func(scheduler.Event) bool) bool {
	return slices.ContainsFunc(b.queue, func(s stamped) bool { return is(s.ev) })
}

// Drop takes back events that nobody has taken.
func (b *Inbox) Drop(is func(scheduler.Event) bool) {
	b.queue = slices.DeleteFunc(b.queue, func(s stamped) bool { return is(s.ev) })
}

// Take returns the next event up to the deadline, and makes its time the present; nil if none
// is there.
func (b *Inbox) Take(deadline time.Time) scheduler.Event {
	if len(b.queue) == 0 || b.queue[0].at.After(deadline) {
		return nil
	}
	next := b.queue[0]
	b.queue = b.queue[1:]
	if next.at.After(b.now) {
		b.now = next.at
	}
	return next.ev
}

// Pass makes a deadline that has come the present, and returns how long there is to wait for
// it: 0 if it has come.
func (b *Inbox) Pass(deadline time.Time) time.Duration {
	wait := time.Until(deadline)
	if wait > 0 {
		return wait
	}
	if deadline.After(b.now) {
		b.now = deadline
	}
	return 0
}

// Wait asks take for an event until it has one, or an error, or nothing to wait for. It asks
// again when the bell rings, and after the time that take names.
func Wait(ctx context.Context, bell <-chan struct{}, take func() (scheduler.Event, time.Duration, error)) (scheduler.Event, error) {
	for {
		ev, wait, err := take()
		if err != nil || ev != nil || wait <= 0 {
			return ev, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-bell:
		case <-timer.C:
		}
		timer.Stop()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// Ring wakes whoever listens to a bell, now or when it next does.
func Ring(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}
