package kube

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// present returns the job that a message is of, if its generation is the planned one.
func (w *World) present(id job.ID, generation int) (*jobstate.Job, error) {
	e := w.table.ByID[id]
	switch {
	case e == nil || e.Ended():
		return nil, agentapi.ErrUnknown
	case e.Parsed.Generation != int64(generation):
		return nil, fmt.Errorf("%w: this is %d, the present one is %d", agentapi.ErrGeneration, generation, e.Parsed.Generation)
	}
	return e, nil
}

// Hello handles the first message of a job's program: what the job is, and that it trains.
func (w *World) Hello(_ context.Context, id job.ID, h *agentapi.Hello) (*agentapi.Welcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, err := w.present(id, h.Generation)
	if err != nil {
		return nil, err
	}
	workers := e.Workers()
	if e.Wants() && int64(h.Generation) == e.Held.Generation {
		if h.WorldSize < workers || h.WorldSize > e.Held.GPUs {
			return nil, fmt.Errorf("%w: %d workers, want %d, or one for each of %d GPUs", agentapi.ErrInvalid, h.WorldSize, workers, e.Held.GPUs)
		}
		if last := e.Agent.Hello; !e.Restored() && (last == nil || last.Generation != h.Generation) {
			e.Agent.StartTimes.Add(time.Since(e.Since))
		}
	}
	e.Agent.Says(h, e)
	w.heard(e)
	if int64(h.Generation) == e.Held.Generation && e.Wants() {
		w.trains(e, restored(h))
	}
	return &agentapi.Welcome{Batch: w.seen.batch(e), ReportSeconds: w.o.Report.Seconds(), Profile: w.seen.ladder(e)}, nil
}

// restored returns the progress of the checkpoint that a job restored; 0 if there was none.
func restored(h *agentapi.Hello) *float64 {
	if h.Restored == nil {
		return new(float64)
	}
	return &h.Restored.Progress
}

// heard records that a job's agent has sent a message, so that the job is not silent.
func (w *World) heard(e *jobstate.Job) {
	e.Agent.Spoke, e.Agent.Silent, e.Agent.Heard = true, false, time.Now()
	w.describe(e)
}

// Report handles the measurements of a job. Those of a generation that has been told to stop are
// as valid as others.
func (w *World) Report(_ context.Context, id job.ID, r *agentapi.Report) (*agentapi.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, err := w.present(id, r.Generation)
	if err != nil {
		return nil, err
	}
	w.heard(e)
	answer := &agentapi.Answer{Batch: w.seen.batch(e)}
	if int64(r.Generation) != e.Held.Generation || !e.Wants() {
		answer.Notice = &agentapi.Notice{Deadline: float64(time.Now().Add(e.Parsed.Grace).Unix()), Reason: "its GPUs are given to others, or it is to have other ones"}
		return answer, nil
	}
	report := r.Job(id, e.Held.Configuration, e.Held.CPUs, e.Held.Memory)
	w.background.unsaved = e.Keep(&report) || w.background.unsaved
	w.events.Emit(scheduler.Reported{Report: report})
	return answer, nil
}

// Checkpoint handles the message that a job has saved its state. It resets the job's count of
// failures.
func (w *World) Checkpoint(_ context.Context, id job.ID, c *agentapi.Checkpoint) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, err := w.present(id, c.Generation)
	if err != nil {
		return err
	}
	w.heard(e)
	e.Failures = 0
	return nil
}

// markSilent marks jobs as silent whose agents have sent nothing for Options.Silence although all
// pods ran. A silent job counts as rigid and keeps what it holds until its agent sends a message.
// The caller holds the lock.
func (w *World) markSilent() {
	for _, e := range w.table.Order {
		a := &e.Agent
		if e.Ended() || a.Silent || !a.Spoke || e.UpSince.IsZero() || min(time.Since(a.Heard), time.Since(e.UpSince)) < w.o.Silence {
			continue
		}
		a.Silent = true
		w.describe(e)
	}
}

// batch returns the batch size for a job to train with.
func (w *seen) batch(e *jobstate.Job) agentapi.Batch {
	return agentapi.ToTrain(e.Held.Batch, w.snapshot.Job(e.ID()), e.Held.Allocation, e.Held.GPUs)
}

// ladder returns the batch sizes with which a job whose speed nobody knows takes its first
// steps.
func (w *seen) ladder(e *jobstate.Job) []int {
	if row := w.snapshot.Job(e.ID()); row != nil && row.Perf != nil || !e.Wants() {
		return nil
	}
	return agentapi.Ladder(e.Spec, e.Held.GPUType, e.Held.GPUs)
}
