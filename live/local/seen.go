package local

import (
	"cmp"
	"reflect"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// seen is what the last round saw and decided.
type seen struct {
	snapshot *policy.Snapshot
	plan     *policy.Plan
}

// Event implements scheduler.Observer.
func (w *World) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer: it remembers what was decided, for those who ask.
func (w *World) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = seen{s, p}
	w.hush()
}

// Seen returns what the last round saw and decided; nil before the first. Both are immutable.
func (w *World) Seen() (*policy.Snapshot, *policy.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.snapshot, w.seen.plan
}

// Banner returns what keeps the world from writing down what it does; empty if nothing does.
func (w *World) Banner() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.banner, w.full)
}

// A Live job is one that has not ended, as the world knows it.
type Live struct {
	store.Job
	Spoke  bool      // its program has spoken to the scheduler
	Silent bool      // it has not for long
	Up     bool      // workers of the planned generation run
	Waits  time.Time // it is started again then, after a failure; zero or past: at once
}

// Live returns the jobs that have not ended, in the order in which they were accepted.
func (w *World) Live() []Live {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Live
	for _, e := range w.order {
		if e.ended {
			continue
		}
		l := Live{Job: e.Job, Spoke: e.spoke, Silent: e.silent, Waits: e.notBefore}
		if r := e.current(); r != nil {
			l.Up = r.up
		}
		all = append(all, l)
	}
	return all
}

// same reports whether two specs say the same.
func same(a, b *job.Spec) bool { return reflect.DeepEqual(a, b) }
