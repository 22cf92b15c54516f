package slurm

import (
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A grant is the plan for a job; the zero value grants nothing.
type grant struct {
	allocation cluster.Allocation
	placement  cluster.Placement
	generation int
	batch      job.BatchSize // zero: the program decides
	since      time.Time     // when it was planned, or Slurm started it by itself; zero: before this scheduler
}

// An entry is a job that has not ended.
//
// Invariant: planned is what the scheduler assumes the job to hold, except while Lost is set.
type entry struct {
	driver.Entry       // its ID is Slurm's number; "~2" is appended for the second job with a number, and so on
	observed           Job
	request            *job.Spec // the user's request
	spec               *job.Spec // as last described to the scheduler
	planned            grant
	running            int // the generation that the scheduler knows to run
	noticed            time.Time
	released           time.Time    // when it was released; zero: not since it was planned
	releasedGeneration int          // the generation that was released
	failures           int          // in a row; it is not planned before NotBefore
	why                string       // the last failure
	heldByOther        bool         // somebody else holds it
	program            ProgramState // what its program has sent
	runningSince       time.Time    // when the present start was first observed
	awaitsHello        bool         // its program has not said hello yet; until then its phase is Restoring
}

// request returns the specification that the user asks for now.
func (e *entry) currentRequest(j *Job) *job.Spec {
	spec := j.Spec()
	spec.ID = e.ID
	return spec
}

// key names the job for the next scheduler, which does not know the suffix of the ID.
func (e *entry) key() job.ID { return JobID(e.observed.ID) }

// backoff is how long a job is not planned after a first failure. Each further failure in a row doubles it.
const (
	backoff     = 30 * time.Second
	mostBackoff = time.Hour
)

// wants reports whether GPUs are planned for the job.
func (e *entry) wants() bool { return !e.Over && !e.Lost && len(e.planned.placement) > 0 }

// wishes returns the plan by job.
func (b *Backend) wishes() map[client.ID]Wish {
	all := make(map[client.ID]Wish, len(b.Order))
	for _, e := range b.Order {
		if e.Over { // another job may have its number
			continue
		}
		wish := Wish{Noticed: e.noticed, Silent: e.Silent}
		if e.wants() {
			wish.Placement, wish.Generation = e.planned.placement, e.planned.generation
		}
		all[e.observed.ID] = wish
	}
	return all
}

// carried records that a command about a job was sent.
func (b *Backend) carried(s *Step) {
	b.Lock()
	defer b.Unlock()
	e := b.numbers[s.Job]
	switch {
	case e == nil:
	case s.Verb == Hold && e.wants() && e.releasedGeneration == e.planned.generation:
		b.fail(e, "Slurm does not show the number of GPUs that was set")
	case s.Verb == Notice:
		e.noticed = time.Now()
	case s.Verb == Release:
		e.released, e.releasedGeneration, e.noticed = time.Now(), e.planned.generation, time.Time{}
	}
}

// refused handles a refused command: a waiting job is planned again later.
func (b *Backend) refused(s *Step, err error) {
	b.Lock()
	defer b.Unlock()
	e := b.numbers[s.Job]
	if e != nil && e.wants() && e.observed.Waits() {
		b.fail(e, err.Error())
	}
}

// lose reports to the scheduler that a job has lost its GPUs.
func (b *Backend) lose(e *entry, detail string) {
	e.released = time.Time{}
	b.Lose(e, detail)
}

// fail is lose for a job that must not be planned for a while. It describes the job as one that cannot run, so
// that no policy plans it.
func (b *Backend) fail(e *entry, why string) {
	e.failures++
	e.NotBefore, e.why = time.Now().Add(min(backoff<<min(e.failures-1, 10), mostBackoff)), why
	b.lose(e, why)
	b.describe(e)
}

// noGPUType is a type that no node has.
const noGPUType = "(none: retry later)"

// describe sends the scheduler a changed specification of a job.
func (b *Backend) describe(e *entry) {
	spec := e.described()
	if e.Silent && e.program.Hello != nil && e.wants() {
		spec = e.rigid(spec)
	}
	if e.heldByOther || time.Now().Before(e.NotBefore) {
		barred := *spec
		barred.GPUTypes = []cluster.GPUType{noGPUType}
		spec = &barred
	}
	if same(spec, e.spec) {
		return
	}
	e.spec = spec
	b.Events.Emit(scheduler.Described{Spec: spec})
}

// conclude reports to the scheduler that a job has ended.
func (b *Backend) conclude(e *entry, outcome scheduler.Outcome, detail string) {
	if !e.Over {
		b.Conclude(e, outcome, detail)
	}
}

// release records that the scheduler knows that a job was lost.
func release(e *entry) { e.planned.allocation, e.planned.placement = cluster.Allocation{}, nil }
