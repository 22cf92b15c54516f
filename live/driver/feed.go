package driver

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Feed passes the events of a backend to its scheduler, and stores the last snapshot and plan. A backend that embeds
// a Feed only lacks the methods Cluster, Do and Execute. The Feed's lock also guards the backend's data.
type Feed struct {
	sync.Mutex
	Events   *Queue
	Work     chan struct{}                     // wakes Repeat
	Jobs     func(now time.Time) []*policy.Job // nil before Follow
	Snapshot *policy.Snapshot                  // nil before the first round
	Plan     *policy.Plan                      // nil before the first round
	Hold     func() time.Duration              // how long a due round has to wait; nil: no wait
	owner    owner
	ends     error
}

// An owner has the functions by which a Feed accesses the jobs of its backend. All are called under the lock, as is Hold.
type owner struct {
	known func(id job.ID) bool // reports whether the scheduler may name this job
	live  func() int           // number of jobs that have not ended or are not cleared away
	taken func(ev scheduler.Event)
}

// Follow implements Backend.
func (f *Feed) Follow(round time.Duration, jobs func(now time.Time) []*policy.Job) {
	f.Lock()
	defer f.Unlock()
	f.Events.Round, f.Jobs = round, jobs
}

// Now implements scheduler.Backend.
func (f *Feed) Now() time.Time {
	f.Lock()
	defer f.Unlock()
	return f.Events.Now()
}

// ClockMoved implements Backend.
func (f *Feed) ClockMoved() time.Duration {
	f.Lock()
	defer f.Unlock()
	return f.Events.ClockMoved()
}

// Drain stops the scheduler, by io.EOF from Next, once no job and no background work is left.
func (f *Feed) Drain() {
	f.Lock()
	defer f.Unlock()
	f.Events.Drain()
}

// End stops the scheduler: all later calls of Next return the error why. Call it while the Feed is locked.
func (f *Feed) End(why error) {
	f.ends = why
	f.Events.Wake()
}

// Ends returns the error given to End, or nil. Call it while the Feed is locked.
func (f *Feed) Ends() error { return f.ends }

// Next implements scheduler.Backend. Event times are real time.
func (f *Feed) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	return Wait(ctx, f.Events.Woken(), func() (scheduler.Event, time.Duration, error) { return f.Take(deadline) })
}

// Take returns the next event or, if there is none, how long to wait for one; 0 means that the deadline has passed.
func (f *Feed) Take(deadline time.Time) (scheduler.Event, time.Duration, error) {
	f.Lock()
	defer f.Unlock()
	if f.ends != nil {
		return nil, 0, f.ends
	}
	if ev := f.Events.Take(deadline); ev != nil {
		f.owner.taken(ev)
		return ev, 0, nil
	}
	if f.Events.Over(f.owner.live()) {
		return nil, 0, io.EOF
	}
	if f.Hold != nil && f.Events.until(deadline) <= 0 {
		if wait := f.Hold(); wait > 0 {
			return nil, wait, nil
		}
	}
	return nil, f.Events.Pass(deadline), nil
}

// Event implements scheduler.Observer.
func (*Feed) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer.
func (f *Feed) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	f.Lock()
	defer f.Unlock()
	f.Snapshot, f.Plan = s, p
}

// LastRound returns the snapshot and the plan of the last round, which are immutable, or nil before the first round.
func (f *Feed) LastRound() (*policy.Snapshot, *policy.Plan) {
	f.Lock()
	defer f.Unlock()
	return f.Snapshot, f.Plan
}

// A draft receives the actions of a round that change jobs or nodes.
type draft interface {
	Preempt(a scheduler.Preempt) error
	Run(a *scheduler.Run) error
	// Nodes takes an action that rents or returns nodes.
	Nodes(a scheduler.Action) error
}

// Apply passes the actions of a round to draft d, up to the first error, and starts background work. Requests to
// profile a job succeed at once, because agents measure jobs while they train. Call it while the Feed is locked.
func (f *Feed) Apply(ctx context.Context, actions []scheduler.Action, d draft) error {
	for _, a := range actions {
		var err error
		switch a := a.(type) {
		case scheduler.Preempt:
			err = d.Preempt(a)
		case scheduler.Run:
			err = d.Run(&a)
		case scheduler.Profile:
			if !f.owner.known(a.Job) {
				return errNotLive(a.Job)
			}
			f.Events.Emit(scheduler.Profiled{Job: a.Job})
		case scheduler.Compute:
			f.Events.Compute(ctx, f, a.Work)
		default:
			err = d.Nodes(a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Repeat calls pass at once, then once per interval and whenever the channel Work receives an item, until ctx is done.
func (f *Feed) Repeat(ctx context.Context, interval time.Duration, pass func()) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		pass()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.Work:
		case <-tick.C:
		}
	}
}

func errNotLive(id job.ID) error {
	return errors.New(printable.Named("job", string(id)) + ": no such job, or it has ended")
}
