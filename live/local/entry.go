package local

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Invariant: Held is the last committed plan. runs are all generations that may have processes.
type entry struct {
	driver.Entry           // Heard is about this generation
	store.Job              // Spec is as last described
	notBefore    time.Time // earliest restart after a failure
	withheld     bool      // by its user's quota
	uncommitted  bool      // its slots or failures differ from the last plan
	planned      time.Time
	hasClient    bool         // in any generation
	runs         []*run       // oldest first
	stored       []job.Report // before this scheduler began: agents may send them again
}

type run struct {
	generation int
	slots      []int // by rank; nil: unknown
	allocation cluster.Allocation
	cores      []int
	began      time.Time
	observed   time.Time // last observation
	step       int64
	up         bool
	announced  bool
	stop       time.Time // deadline; zero: it is not to stop
	why        string    // reason of the stop
}

// overdue is how long after a deadline a supervisor may live.
var overdue = 15 * time.Second

func (r *run) hung(now time.Time) bool { return !r.stop.IsZero() && !now.Before(r.stop.Add(overdue)) }

func (r *run) trouble(now time.Time) string {
	if r.stop.IsZero() || !now.After(r.stop) {
		return ""
	}
	return fmt.Sprintf("start %d should have ended at %s, but its supervisor does not answer: it is killed at %s",
		r.generation, r.stop.Format(time.TimeOnly), r.stop.Add(overdue).Format(time.TimeOnly))
}

func (e *entry) trouble(now time.Time) string {
	for _, r := range e.runs {
		if text := r.trouble(now); text != "" {
			return text
		}
	}
	return ""
}

func newEntry(j *store.Job) *entry { return &entry{Entry: driver.Entry{ID: j.Spec.ID}, Job: *j} }

func (e *entry) wants() bool { return !e.Over && !e.Lost && len(e.Held) > 0 }

func (e *entry) run(generation int) *run {
	i := slices.IndexFunc(e.runs, func(r *run) bool { return r.generation == generation })
	if i < 0 {
		return nil
	}
	return e.runs[i]
}

func (e *entry) current() *run {
	if !e.wants() {
		return nil
	}
	return e.run(e.Generation)
}

func (e *entry) drop(r *run) {
	e.runs = slices.DeleteFunc(e.runs, func(o *run) bool { return o == r })
}

func (e *entry) checkpointStep() int64 {
	if e.Checkpoint == nil {
		return 0
	}
	return e.Checkpoint.Step
}

func (e *entry) name(r *run) statedir.Generation {
	return statedir.Generation{Job: e.Spec.ID, Number: r.generation}
}

func (e *entry) state() jobState {
	j := jobState{ID: e.Spec.ID, Generation: e.Generation, Cores: int(e.Status.Allocation.CPUs), Ended: e.Over, NotBefore: e.notBefore}
	if e.wants() {
		j.Slots = e.Held
	}
	for _, r := range e.runs {
		j.Runs = append(j.Runs, runState{Generation: r.generation, Slots: r.slots, Cores: r.cores, Stopping: !r.stop.IsZero()})
	}
	return j
}

func (e *entry) commit(c *store.Change) {
	if c.Generation != e.Generation {
		e.planned = time.Now()
	}
	e.uncommitted = false
	e.Generation, e.Held, e.Batch, e.Status = c.Generation, c.Held, c.Batch, c.Status
}
