package local

import (
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/store"
)

// failures is how many generations in a row may fail without a new checkpoint.
const failures = 3

// An entry is a job that has not ended, or whose processes have not.
//
// Invariant: slots is what the last committed plan says; runs are the generations that may
// have processes, whatever the plan says.
type entry struct {
	store.Job      // as the store has it; Spec is as last described
	silent    bool // the scheduler is told that it is rigid
	ended     bool
	lost      bool      // its generation is over, and the scheduler has not yet heard
	unsaid    bool      // what it holds, or its failures, are not what the last plan says
	planned   time.Time // when the present generation was
	notBefore time.Time // of the next start: back-off after failures
	heard     time.Time // when the agent last spoke in this generation; zero: it did not
	spoke     bool      // in any generation
	measured  agentapi.Mean
	runs      []*run // oldest first
}

// A run is a generation that may have processes.
type run struct {
	generation int
	slots      []int // by rank; nil: not known, of a generation before the last
	allocation cluster.Allocation
	cores      []int
	began      time.Time
	looked     time.Time // at its keeper, the last time
	step       int64     // of the last checkpoint when it began
	up         bool      // its workers have all started
	told       bool      // the scheduler knows that it runs
	stop       time.Time // what is left is killed then; zero: it is not to stop
	why        string    // it is to stop
}

// wants reports whether the committed plan has GPUs for the job.
func (e *entry) wants() bool { return !e.ended && !e.lost && len(e.Held) > 0 }

// current returns the run of the generation that is planned; nil if it has not begun.
func (e *entry) current() *run {
	i := slices.IndexFunc(e.runs, func(r *run) bool { return r.generation == e.Generation })
	if i < 0 || !e.wants() {
		return nil
	}
	return e.runs[i]
}

// drop forgets a run that is over.
func (e *entry) drop(r *run) {
	e.runs = slices.DeleteFunc(e.runs, func(o *run) bool { return o == r })
}

// step returns the step of the last checkpoint; 0 without.
func (e *entry) step() int64 {
	if e.Job.Checkpoint == nil {
		return 0
	}
	return e.Job.Checkpoint.Step
}

// Folder returns the directory of a job in a state directory.
func Folder(dir string, id job.ID) string { return filepath.Join(dir, "jobs", string(id)) }

// LogFile returns where the output of a job's workers is.
func LogFile(dir string, id job.ID) string { return filepath.Join(Folder(dir, id), "log") }

func (w *World) folder(id job.ID, generation int) string {
	return filepath.Join(Folder(w.o.Dir, id), strconv.Itoa(generation))
}
