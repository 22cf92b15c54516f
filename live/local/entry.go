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

// An entry is a job that has not ended, or whose processes have not.
//
// Invariant: Held is what the last committed plan says; runs are the generations that may
// have processes, whatever the plan says.
type entry struct {
	driver.Entry              // Heard is of this generation
	store.Job                 // as the store has it; Spec is as last described
	withheld     bool         // from the scheduler, by its user's quota
	uncommitted  bool         // what it holds, or its number of failures, differs from the last plan
	planned      time.Time    // when the present generation was
	spoke        bool         // its agent has, in any generation
	runs         []*run       // oldest first
	stored       []job.Report // that the store had when this scheduler began: agents may send them again
}

// A run is a generation that may have processes.
type run struct {
	generation int
	slots      []int // by rank; nil: not known, of a generation before the last
	allocation cluster.Allocation
	cores      []int
	began      time.Time
	observed   time.Time // the last time
	step       int64     // of the last checkpoint when it began
	up         bool      // its workers have all started
	announced  bool      // the scheduler knows that it runs
	stop       time.Time // what is left is killed then; zero: it is not to stop
	why        string    // it is to stop
}

// overdue is how long after the deadline of a stop a supervisor may take to end everything. Tests
// shorten it.
var overdue = 15 * time.Second

// hung reports whether the supervisor of a run has not ended it in time: it was stopped, or hangs.
func (r *run) hung(now time.Time) bool { return !r.stop.IsZero() && !now.Before(r.stop.Add(overdue)) }

// trouble says what is wrong with a run at a time, for people; empty if nothing is.
func (r *run) trouble(now time.Time) string {
	if r.stop.IsZero() || !now.After(r.stop) {
		return ""
	}
	return fmt.Sprintf("start %d should have ended at %s, and its keeper does not answer: it is killed at %s",
		r.generation, r.stop.Format(time.TimeOnly), r.stop.Add(overdue).Format(time.TimeOnly))
}

// trouble says what is wrong with the runs of a job at a time, for people; empty if nothing is.
func (e *entry) trouble(now time.Time) string {
	for _, r := range e.runs {
		if text := r.trouble(now); text != "" {
			return text
		}
	}
	return ""
}

func newEntry(j *store.Job) *entry { return &entry{Entry: driver.Entry{ID: j.Spec.ID}, Job: *j} }

// wants reports whether the committed plan has GPUs for the job.
func (e *entry) wants() bool { return !e.Over && !e.Lost && len(e.Held) > 0 }

// run returns the run of a generation; nil if there is none.
func (e *entry) run(generation int) *run {
	i := slices.IndexFunc(e.runs, func(r *run) bool { return r.generation == generation })
	if i < 0 {
		return nil
	}
	return e.runs[i]
}

// current returns the run of the generation that is planned; nil if it has not begun.
func (e *entry) current() *run {
	if !e.wants() {
		return nil
	}
	return e.run(e.Generation)
}

// drop forgets a run that is over.
func (e *entry) drop(r *run) {
	e.runs = slices.DeleteFunc(e.runs, func(o *run) bool { return o == r })
}

// checkpointStep returns the step of the last checkpoint; 0 without.
func (e *entry) checkpointStep() int64 {
	if e.Checkpoint == nil {
		return 0
	}
	return e.Checkpoint.Step
}

// name returns the generation of one of the entry's runs.
func (e *entry) name(r *run) statedir.Generation {
	return statedir.Generation{Job: e.Spec.ID, Number: r.generation}
}

// state returns what the executor compares: what is planned for the job, and what runs.
func (e *entry) state() jobState {
	j := jobState{ID: e.Spec.ID, Generation: e.Generation, Cores: int(e.Status.Allocation.CPUs), Ended: e.Over, NotBefore: e.NotBefore}
	if e.wants() {
		j.Slots = e.Held
	}
	for _, r := range e.runs {
		j.Runs = append(j.Runs, runState{Generation: r.generation, Slots: r.slots, Cores: r.cores, Stopping: !r.stop.IsZero()})
	}
	return j
}

// commit takes over what was committed.
func (e *entry) commit(c *store.Change) {
	if c.Generation != e.Generation {
		e.planned = time.Now()
	}
	e.uncommitted = false
	e.Generation, e.Held, e.Batch, e.Status = c.Generation, c.Held, c.Batch, c.Status
}
