package kube

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/scheduler"
)

// An agent is what a job's program has said.
type agent struct {
	spoke    bool            // in any generation
	heard    time.Time       // when it last spoke to this leader; zero: it did not
	silent   bool            // the scheduler is told that the job is rigid
	hello    *agentapi.Hello // the last one; nil: none
	measured agentapi.Mean   // of starts, from plan to training
	// local is how many samples a worker takes at once at most, of each type that the program
	// has said it of.
	local map[cluster.GPUType]int
}

// says takes in what a program says of itself. How many samples it takes at once it says of
// the type that it is on, and what it said on another type holds for that.
func (a *agent) says(h *agentapi.Hello, e *entry) {
	a.hello = h
	if h == nil || int64(h.Generation) != e.held.generation || e.held.GPUs == 0 || h.Batch.LocalMax <= 0 {
		return
	}
	a.local = maps.Clone(a.local)
	if a.local == nil {
		a.local = make(map[cluster.GPUType]int)
	}
	a.local[e.held.GPUType] = h.Batch.LocalMax
}

// described returns a job as its object and its program say.
func (a *agent) described(spec *job.Spec, e *entry) *job.Spec {
	if a.hello == nil {
		return spec
	}
	said := a.hello.Described(spec, e.held.GPUType, a.measured.Value())
	said.Batch.LocalMax = a.local
	return said
}

// present returns a job whose planned generation a message is of.
func (w *World) present(id job.ID, generation int) (*entry, error) {
	e := w.jobs[id]
	switch {
	case e == nil || e.ended:
		return nil, agentapi.ErrUnknown
	case e.job.Generation != int64(generation):
		return nil, fmt.Errorf("%w: this is %d, the present one is %d", agentapi.ErrGeneration, generation, e.job.Generation)
	}
	return e, nil
}

// Hello takes in what a job's program says of itself, and that it trains.
func (w *World) Hello(_ context.Context, id job.ID, h *agentapi.Hello) (*agentapi.Welcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, err := w.present(id, h.Generation)
	if err != nil {
		return nil, err
	}
	workers := e.workers()
	if e.wants() && int64(h.Generation) == e.held.generation {
		if h.WorldSize < workers || h.WorldSize > e.held.GPUs {
			return nil, fmt.Errorf("%w: %d workers, want %d, or one for each of %d GPUs", agentapi.ErrInvalid, h.WorldSize, workers, e.held.GPUs)
		}
		if last := e.agent.hello; !e.restored && (last == nil || last.Generation != h.Generation) {
			e.agent.measured.Add(time.Since(e.since))
		}
	}
	e.agent.says(h, e)
	w.heard(e)
	if int64(h.Generation) == e.held.generation && e.wants() {
		w.trains(e, restored(h))
	}
	return &agentapi.Welcome{Batch: w.batch(e), ReportSeconds: w.o.Report.Seconds(), Profile: w.ladder(e)}, nil
}

// restored returns the progress of the checkpoint that a job goes on from; 0 without.
func restored(h *agentapi.Hello) *float64 {
	if h.Restored == nil {
		return new(float64)
	}
	return &h.Restored.Progress
}

// heard takes in that an agent has spoken, and what it says of its job.
func (w *World) heard(e *entry) {
	e.agent.spoke, e.agent.silent, e.agent.heard = true, false, time.Now()
	w.describe(e)
}

// Report takes in what a job measured. What it measured in a generation that is to stop is as
// true as in another.
func (w *World) Report(_ context.Context, id job.ID, r *agentapi.Report) (*agentapi.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, err := w.present(id, r.Generation)
	if err != nil {
		return nil, err
	}
	w.heard(e)
	answer := &agentapi.Answer{Batch: w.batch(e)}
	if int64(r.Generation) != e.held.generation || !e.wants() {
		answer.Notice = &agentapi.Notice{Deadline: float64(time.Now().Add(e.job.Grace).Unix()), Reason: "its GPUs are given to others, or it is to have other ones"}
		return answer, nil
	}
	report := r.Job(id, e.held.Configuration, e.held.CPUs, e.held.Memory)
	w.unsaved = e.keep(&report) || w.unsaved
	w.inbox.Emit(scheduler.Reported{Report: report})
	return answer, nil
}

// Checkpoint takes in that a job has saved its state: it has not failed, whatever came before.
func (w *World) Checkpoint(_ context.Context, id job.ID, c *agentapi.Checkpoint) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, err := w.present(id, c.Generation)
	if err != nil {
		return err
	}
	w.heard(e)
	e.failures = 0
	return nil
}

// hush takes agents for silent that have not spoken for long, while all pods of their jobs ran:
// these keep what they hold, as rigid ones, until they speak again. The caller holds the lock.
func (w *World) hush() {
	for _, e := range w.order {
		a := &e.agent
		if e.ended || a.silent || !a.spoke || e.up.IsZero() || min(time.Since(a.heard), time.Since(e.up)) < w.o.Silence {
			continue
		}
		a.silent = true
		w.describe(e)
	}
}

// rigid returns a job as one that keeps what it holds.
func rigid(spec *job.Spec, e *entry) *job.Spec {
	if e.held.GPUs == 0 {
		return spec
	}
	r := *spec
	r.Adaptivity &^= job.GPUCount | job.BatchSizes
	r.GPUs = e.held.GPUs
	return &r
}

// batch returns the batch size for a job to train with.
func (w *World) batch(e *entry) agentapi.Batch {
	return agentapi.ToTrain(e.held.batch, w.seen.snapshot.Job(e.id()), e.held.Allocation, e.held.GPUs)
}

// ladder returns the batch sizes with which a job whose speed nobody knows takes its first
// steps.
func (w *World) ladder(e *entry) []int {
	if row := w.seen.snapshot.Job(e.id()); row != nil && row.Perf != nil || !e.wants() {
		return nil
	}
	return agentapi.Ladder(e.spec, e.held.GPUType, e.held.GPUs)
}
