package driver

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// An Entry has the data of a job that all backends store.
type Entry struct {
	ID     job.ID
	Over   bool          // the job has ended for good
	Lost   bool          // the job holds nothing, but the scheduler has not processed its loss yet
	Heard  time.Time     // time of the last message of its program; zero: none
	Silent bool          // its program has sent no message for long, so the job counts as rigid
	Starts agentapi.Mean // mean time from the plan of a start to training
}

func (e *Entry) entry() *Entry { return e }

// A Table has the jobs of a backend, in order of arrival, and a Feed of its events. E is a pointer to a type that
// embeds Entry.
//
// Invariant: ByID and Order have the same entries.
type Table[E interface{ entry() *Entry }] struct {
	*Feed
	ByID  map[job.ID]E
	Order []E

	freed, ended func(E)
}

// NewTable returns an empty Table with event queue q. The functions are called, while the Table is locked, when the
// scheduler has processed that a job lost its GPUs (freed) or ended for good (ended).
func NewTable[E interface{ entry() *Entry }](q *Queue, freed, ended func(E)) *Table[E] {
	t := &Table[E]{ByID: map[job.ID]E{}, freed: freed, ended: ended}
	t.Feed = &Feed{Events: q, Work: make(chan struct{}, 1), owner: owner{
		known: t.known, live: func() int { return len(t.Order) }, taken: t.taken,
	}}
	return t
}

// Get returns the entry of a job, or an error if the ID is unknown.
func (t *Table[E]) Get(id job.ID) (E, error) {
	e, ok := t.ByID[id]
	if !ok {
		return e, errNotLive(id)
	}
	return e, nil
}

// Add adds the entry of a job.
func (t *Table[E]) Add(e E) {
	t.ByID[e.entry().ID] = e
	t.Order = append(t.Order, e)
}

// Remove removes the entry of a job.
func (t *Table[E]) Remove(e E) {
	id := e.entry().ID
	delete(t.ByID, id)
	t.Order = slices.DeleteFunc(t.Order, func(o E) bool { return o.entry().ID == id })
	t.Events.Wake()
}

// Lose reports to the scheduler that a job has lost its GPUs.
func (t *Table[E]) Lose(e E, detail string) {
	e.entry().Lost = true
	t.exit(e, scheduler.Lost, detail)
}

// RetractLoss removes the event of Lose if the scheduler has not processed it, because the scheduler has planned a new
// start of the job.
func (t *Table[E]) RetractLoss(e E) {
	e.entry().Lost = false
	t.Events.Drop(func(ev scheduler.Event) bool {
		lost, ok := ev.(scheduler.Exited)
		return ok && lost.Job == e.entry().ID && lost.Outcome == scheduler.Lost
	})
}

// Conclude reports to the scheduler that a job has ended and will not run again.
func (t *Table[E]) Conclude(e E, outcome scheduler.Outcome, detail string) {
	e.entry().Over = true
	t.exit(e, outcome, detail)
}

func (t *Table[E]) exit(e E, outcome scheduler.Outcome, detail string) {
	t.Events.Emit(scheduler.Exited{Job: e.entry().ID, Outcome: outcome, Detail: detail})
}

// EndPending reports whether the scheduler has yet to process the reported end of job id.
func (t *Table[E]) EndPending(id job.ID) bool {
	return t.Events.Any(func(ev scheduler.Event) bool {
		exit, ok := ev.(scheduler.Exited)
		return ok && exit.Job == id && exit.Outcome != scheduler.Lost
	})
}

func (t *Table[E]) known(id job.ID) bool { _, ok := t.ByID[id]; return ok }

func (t *Table[E]) taken(ev scheduler.Event) {
	exit, ok := ev.(scheduler.Exited)
	if !ok || !t.known(exit.Job) {
		return
	}
	if e := t.ByID[exit.Job]; exit.Outcome == scheduler.Lost {
		e.entry().Lost = false
		t.freed(e)
	} else {
		t.ended(e)
	}
}

// Rigid returns a copy of spec for a job that must have exactly gpus GPUs. If gpus is 0, it returns spec itself.
func Rigid(spec *job.Spec, gpus int) *job.Spec {
	if gpus == 0 {
		return spec
	}
	r := *spec
	r.Adaptivity &^= job.GPUCount | job.BatchSizes
	r.GPUs = gpus
	return &r
}
