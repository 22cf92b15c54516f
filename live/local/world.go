package local

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/local/folders"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A World is a scheduler.Backend on this machine, and an Observer of its own scheduler. Make
// one with Open. Next and Do are for the scheduler's goroutine; everything else is safe for
// concurrent use.
type World struct {
	o       Options
	folders folders.Folders
	cluster *cluster.Cluster
	follow  func(now time.Time) []*policy.Job // nil: nobody said

	mu        sync.Mutex
	jobs      *jobTable
	last      lastRound
	round     int64  // of the last plan that was committed
	unwritten string // why plans cannot be written, for people; empty: they can
}

// A lastRound is what the last round saw and decided.
type lastRound struct {
	snapshot *policy.Snapshot
	plan     *policy.Plan
}

var (
	_ scheduler.Backend  = (*World)(nil)
	_ scheduler.Observer = (*World)(nil)
)

// Follow sets the time between rounds, and the function with which the World asks for the scheduler's view of its jobs: jobs
// returns them as if the plan were carried out (scheduler.Scheduler.Snapshot). Call it before the
// first round.
func (w *World) Follow(round time.Duration, jobs func(now time.Time) []*policy.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs.events.Round, w.follow = round, jobs
}

// Cluster returns the machine as a cluster of one node.
func (w *World) Cluster() *cluster.Cluster { return w.cluster }

// Now implements scheduler.Backend.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobs.events.Now()
}

// ClockMoved returns how far the machine's clock was set forward, or back, since Open.
func (w *World) ClockMoved() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobs.events.ClockMoved()
}

// Drain makes Next return io.EOF once all jobs have ended, their processes, and background
// work. From now on no job is accepted.
func (w *World) Drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs.events.Drain()
}

// Next implements scheduler.Backend. Its time is real time, except for the delay with which events
// are taken.
func (w *World) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	return driver.Wait(ctx, w.jobs.events.Woken(), func() (scheduler.Event, time.Duration, error) { return w.take(deadline) })
}

// take returns the next event, or how long to wait for one; 0 if the deadline has come.
func (w *World) take(deadline time.Time) (scheduler.Event, time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ev := w.jobs.events.Take(deadline); ev != nil {
		w.jobs.taken(ev)
		return ev, 0, nil
	}
	if w.jobs.events.Over(len(w.jobs.order)) {
		return nil, 0, io.EOF
	}
	return nil, w.jobs.events.Pass(deadline), nil
}

// Event implements scheduler.Observer.
func (w *World) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer: it keeps what was decided, for queries.
func (w *World) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = lastRound{s, p}
	w.jobs.findSilent()
}

// LastRound returns what the last round saw and decided; nil before the first. Both are
// immutable.
func (w *World) LastRound() (*policy.Snapshot, *policy.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last.snapshot, w.last.plan
}

// Banner returns what keeps the world from writing down what it does; empty if nothing does.
func (w *World) Banner() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.unwritten, w.jobs.full)
}

// A Live job is one that has not ended, as the world knows it.
type Live struct {
	store.Job
	Spoke  bool // its program has spoken to the scheduler
	Silent bool // it has not for long
	Up     bool // workers of the planned generation run
	// Trouble says what keeps its processes from being as planned, for people; empty: nothing.
	Trouble string
	Waits   time.Time // it is started again then, after a failure; zero or past: at once
	// Withheld says why the scheduler does not know of it yet, for people: its user's quota. Empty: it does.
	Withheld string
}

// Live returns the jobs that have not ended, in the order in which they were accepted.
func (w *World) Live() []Live {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Live
	for _, e := range w.jobs.order {
		if e.ended {
			continue
		}
		l := Live{Job: e.Job, Spoke: e.spoke, Silent: e.silent, Waits: e.notBefore, Trouble: e.trouble(time.Now()), Withheld: w.jobs.withheldBy(e)}
		if r := e.current(); r != nil {
			l.Up = r.up
		}
		all = append(all, l)
	}
	return all
}

// Busy reports whether a job has not ended, or still has processes. One that is not busy never
// becomes it again.
func (w *World) Busy(id job.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobs.byID[id] != nil
}

// Escapes says what jobs without a cgroup can do, for people.
const Escapes = "a process of a job that leaves its session and clears its environment outlives the job on its GPUs; " +
	"with Delegate=yes in systemd's unit, or serve --cgroup, it cannot"

// Caveat returns what is not guaranteed of the jobs of this world, for people; empty: all is.
func (w *World) Caveat() string {
	if w.o.Cgroup == "" {
		return "without a cgroup, " + Escapes
	}
	return ""
}

// LogFile returns where the output of a job's workers is, in a state directory.
func LogFile(dir string, id job.ID) string { return (&folders.Folders{Dir: dir}).Log(id) }
