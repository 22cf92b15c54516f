package slurm

import (
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A grant is what is planned for a job; the zero value grants nothing.
type grant struct {
	allocation cluster.Allocation
	placement  cluster.Placement
	generation int
	batch      job.BatchSize // zero: the program decides
	since      time.Time     // it was planned, or Slurm started it itself; zero: before this scheduler
}

// An entry is a job that has not ended.
//
// Invariant: held is what the scheduler believes that the job has, except while Lost is set.
type entry struct {
	driver.Entry // its ID is Slurm's number, and after "~" which job of that number, from the second
	seen         Job
	asked        *job.Spec // what its user asks for
	spec         *job.Spec // as the scheduler has it
	held         grant
	trains       int // the generation that the scheduler knows to run
	noticed      time.Time
	freed        time.Time    // when it was released; zero: it was not since it was planned
	freedIn      int          // the generation for which it was
	failures     int          // in a row: it is not planned before NotBefore
	why          string       // what went wrong last
	kept         bool         // by somebody else
	program      ProgramState // what its program has sent
	up           time.Time    // when the present start was seen to run
	greets       bool         // its program has yet to say hello; until then the scheduler takes it to start
}

// asks returns what the job's user asks for, now.
func (e *entry) asks(j *Job) *job.Spec {
	spec := j.Spec()
	spec.ID = e.ID
	return spec
}

// key names the job where it must be found again by the next scheduler, which knows no numbers that were given before.
func (e *entry) key() job.ID { return JobID(e.seen.ID) }

// backoff is how long a job is not planned after a first failure; each further one in a row doubles it.
const (
	backoff     = 30 * time.Second
	mostBackoff = time.Hour
)

// wants reports whether GPUs are planned for the job.
func (e *entry) wants() bool { return !e.Over && !e.Lost && len(e.held.placement) > 0 }

// wishes returns what is planned, by job.
func (b *Backend) wishes() map[client.ID]Wish {
	all := make(map[client.ID]Wish, len(b.Order))
	for _, e := range b.Order {
		if e.Over { // its number may be another job's
			continue
		}
		wish := Wish{Noticed: e.noticed, Silent: e.Silent}
		if e.wants() {
			wish.Placement, wish.Generation = e.held.placement, e.held.generation
		}
		all[e.seen.ID] = wish
	}
	return all
}

// carried records that a command about a job was given.
func (b *Backend) carried(s *Step) {
	b.Lock()
	defer b.Unlock()
	e := b.numbers[s.Job]
	switch {
	case e == nil:
	case s.Verb == Hold && e.wants() && e.freedIn == e.held.generation:
		b.fail(e, "Slurm does not show the size that it was given")
	case s.Verb == Notice:
		e.noticed = time.Now()
	case s.Verb == Release:
		e.freed, e.freedIn, e.noticed = time.Now(), e.held.generation, time.Time{}
	}
}

// refused handles that Slurm refuses a command: a job that it does not start is planned anew later.
func (b *Backend) refused(s *Step, err error) {
	b.Lock()
	defer b.Unlock()
	e := b.numbers[s.Job]
	if e != nil && e.wants() && e.seen.Waits() {
		b.fail(e, err.Error())
	}
}

// lose tells the scheduler that a job has lost what it had.
func (b *Backend) lose(e *entry, detail string) {
	e.freed = time.Time{}
	b.Lose(e, detail)
}

// fail is lose of a job that is not planned for a while. It is described as one that cannot run, so
// that no policy plans it.
func (b *Backend) fail(e *entry, why string) {
	e.failures++
	e.NotBefore, e.why = time.Now().Add(min(backoff<<min(e.failures-1, 10), mostBackoff)), why
	b.lose(e, why)
	b.describe(e)
}

// noGPUType is a type that no node has.
const noGPUType = "(none: it is tried again later)"

// describe tells the scheduler what may be planned for a job, if that has changed.
func (b *Backend) describe(e *entry) {
	spec := e.described()
	if e.Silent && e.program.Hello != nil && e.wants() {
		spec = e.rigid(spec)
	}
	if e.kept || time.Now().Before(e.NotBefore) {
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

// conclude tells the scheduler that a job has ended.
func (b *Backend) conclude(e *entry, outcome scheduler.Outcome, detail string) {
	if !e.Over {
		b.Conclude(e, outcome, detail)
	}
}

// release records that the scheduler knows that a job was lost.
func release(e *entry) { e.held.allocation, e.held.placement = cluster.Allocation{}, nil }
