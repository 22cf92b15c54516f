package slurm

import (
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

type grant struct {
	allocation cluster.Allocation
	placement  cluster.Placement
	generation int
	batch      job.BatchSize // zero: the program decides
	since      time.Time     // when planned, or started by Slurm; zero: before this scheduler
}

// Invariant: planned is what the scheduler assumes the job to hold, except while Lost is set.
type entry struct {
	driver.Entry       // Slurm's number, with a suffix such as "~2" if Slurm reuses it
	observed           Job
	request            *job.Spec
	spec               *job.Spec
	planned            grant
	running            int
	noticed            time.Time
	released           time.Time // zero: not since it was planned
	releasedGeneration int
	failures           int
	notBefore          time.Time // earliest restart after a failure
	heldByOther        bool      // somebody else holds it
	program            programState
	runningSince       time.Time // when first observed
	awaitsHello        bool
}

func (e *entry) currentRequest(j *Job) *job.Spec {
	spec := j.spec()
	spec.ID = e.ID
	return spec
}

// key identifies the job across schedulers: the ID without its suffix.
func (e *entry) key() job.ID { return jobID(e.observed.ID) }

const (
	backoff     = 30 * time.Second
	mostBackoff = time.Hour
)

func (e *entry) wants() bool { return !e.Over && !e.Lost && len(e.planned.placement) > 0 }

func (b *Backend) wishes() map[client.ID]wish {
	all := make(map[client.ID]wish, len(b.Order))
	for _, e := range b.Order {
		if e.Over { // another job may have its number
			continue
		}
		wish := wish{Noticed: e.noticed, Silent: e.Silent}
		if e.wants() {
			wish.Placement, wish.Generation = e.planned.placement, e.planned.generation
		}
		all[e.observed.ID] = wish
	}
	return all
}

func (b *Backend) carried(s *step) {
	b.Lock()
	defer b.Unlock()
	e := b.numbers[s.Job]
	switch {
	case e == nil:
	case s.Verb == Hold && e.wants() && e.releasedGeneration == e.planned.generation:
		b.fail(e, "Slurm does not show the number of GPUs that was set")
	case s.Verb == notice:
		e.noticed = time.Now()
	case s.Verb == Release:
		e.released, e.releasedGeneration, e.noticed = time.Now(), e.planned.generation, time.Time{}
	}
}

func (b *Backend) refused(s *step, err error) {
	b.Lock()
	defer b.Unlock()
	e := b.numbers[s.Job]
	if e != nil && e.wants() && e.observed.Waits() {
		b.fail(e, err.Error())
	}
}

func (b *Backend) lose(e *entry, detail string) {
	e.released = time.Time{}
	b.Lose(e, detail)
}

func (b *Backend) fail(e *entry, why string) {
	e.failures++
	e.notBefore = time.Now().Add(min(backoff<<min(e.failures-1, 10), mostBackoff))
	b.lose(e, why)
	b.describe(e)
}

const noGPUType = "(none: retry later)"

func (b *Backend) describe(e *entry) {
	spec := e.described()
	if e.Silent && e.program.Hello != nil && e.wants() {
		spec = driver.Rigid(spec, e.planned.allocation.GPUs)
	}
	if e.heldByOther || time.Now().Before(e.notBefore) {
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

func (b *Backend) conclude(e *entry, outcome scheduler.Outcome, detail string) {
	if !e.Over {
		b.Conclude(e, outcome, detail)
	}
}

func release(e *entry) { e.planned.allocation, e.planned.placement = cluster.Allocation{}, nil }
