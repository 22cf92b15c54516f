package local

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/scheduler"
)

var _ agentapi.Jobs = (*World)(nil)

// Job implements agentapi.Jobs. Tokens are random; they are looked up in a map, whose time
// depends on a keyed hash of the whole token.
func (w *World) Job(_ context.Context, token string) (job.ID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, ok := w.tokens[token]
	if !ok {
		return "", agentapi.ErrUnknown
	}
	return id, nil
}

// present returns a job and its run if a message is of a generation that lives, also of one
// that is to stop. There is one such at a time, since the next begins when it is over.
func (w *World) present(id job.ID, generation int) (*entry, *run, error) {
	e := w.jobs[id]
	if e == nil || e.ended {
		return nil, nil, agentapi.ErrUnknown
	}
	for _, r := range e.runs {
		if r.generation == generation {
			return e, r, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: this is %d, the present one is %d", agentapi.ErrGeneration, generation, e.Generation)
}

// Hello implements agentapi.Jobs: the job's program says what it is, and that it trains.
func (w *World) Hello(_ context.Context, id job.ID, h *agentapi.Hello) (*agentapi.Welcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, r, err := w.present(id, h.Generation)
	if err != nil {
		return nil, err
	}
	if r.slots != nil && h.WorldSize != len(r.slots) {
		return nil, fmt.Errorf("%w: %d workers, want %d", agentapi.ErrInvalid, h.WorldSize, len(r.slots))
	}
	if e.heard.IsZero() && !e.planned.IsZero() && r == e.current() {
		e.measured.Add(time.Since(e.planned))
	}
	e.heard = time.Now() // whether it can be written down or not
	if err := w.describe(e, h.Described(e.Asked, w.o.Machine.Type, e.measured.Value())); err != nil {
		return nil, err
	}
	e.spoke = true
	w.speak(e)
	w.trains(e, r, h.Restored)
	return &agentapi.Welcome{Batch: w.batch(e), ReportSeconds: w.o.Report.Seconds(), Profile: w.ladder(e)}, nil
}

// trains tells the scheduler, once for each generation, that a job trains, from a checkpoint
// or from its beginning: said again later, that would take its progress back.
func (w *World) trains(e *entry, r *run, from *agentapi.Restored) {
	if r.told {
		return
	}
	r.told = true
	first := job.Report{Job: e.Spec.ID, Configuration: r.allocation.Configuration}
	if from != nil {
		first.Progress = from.Progress
	}
	w.emit(scheduler.Reported{Report: first})
}

// describe tells the scheduler what a job is, if that is news.
func (w *World) describe(e *entry, spec *job.Spec) error {
	if same(spec, e.Spec) {
		return nil
	}
	if err := w.kept(w.store.Describe(spec.ID, spec)); err != nil {
		return err
	}
	e.Spec = spec
	w.emit(scheduler.Described{Spec: spec})
	return nil
}

// Report implements agentapi.Jobs.
func (w *World) Report(_ context.Context, id job.ID, r *agentapi.Report) (*agentapi.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, on, err := w.present(id, r.Generation)
	if err != nil {
		return nil, err
	}
	report := r.Job(id, on.allocation.Configuration, on.allocation.CPUs, on.allocation.Memory)
	e.heard = time.Now() // whether it can be written down or not
	w.speak(e)
	if err := w.kept(w.store.Report(id, e.heard.Round(0).UTC(), &report)); err != nil {
		return nil, err
	}
	w.emit(scheduler.Reported{Report: report})
	answer := &agentapi.Answer{Batch: w.batch(e)}
	if !on.stop.IsZero() {
		answer.Notice = &agentapi.Notice{Deadline: float64(on.stop.UnixNano()) / 1e9, Reason: on.why}
	}
	return answer, nil
}

// Checkpoint implements agentapi.Jobs.
func (w *World) Checkpoint(_ context.Context, id job.ID, c *agentapi.Checkpoint) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, r, err := w.present(id, c.Generation)
	if err != nil {
		return err
	}
	e.heard = time.Now()
	w.speak(e)
	saved := store.Checkpoint{
		Step: c.Step, Progress: c.Progress, At: time.Now().Round(0).UTC(),
		Bytes: c.Bytes, Checksum: c.Checksum, Path: c.Path, Seconds: c.Seconds,
	}
	if err := w.kept(w.store.Checkpoint(id, saved)); err != nil {
		return err
	}
	e.Job.Previous, e.Job.Checkpoint = e.Job.Checkpoint, &saved
	if e.Failures > 0 && saved.Step > r.step {
		e.Failures, e.unsaid = 0, true
	}
	return nil
}

// hush takes agents for silent that have not spoken for long: their jobs keep what they
// hold, as rigid ones, until they speak again. The caller holds the lock.
func (w *World) hush() {
	for _, e := range w.order {
		if e.ended || e.silent || e.heard.IsZero() || e.current() == nil || time.Since(e.heard) < w.o.Silence {
			continue
		}
		e.silent = true
		rigid := *e.Spec
		rigid.Adaptivity &^= job.GPUCount | job.BatchSizes
		rigid.GPUs = len(e.Held)
		w.emit(scheduler.Described{Spec: &rigid})
	}
}

// speak undoes hush.
func (w *World) speak(e *entry) {
	if e.silent {
		e.silent = false
		w.emit(scheduler.Described{Spec: e.Spec})
	}
}

// batch returns the batch size for a job to train with; zero, the client's own choice, where
// the total is the user's or nothing is known yet.
func (w *World) batch(e *entry) agentapi.Batch {
	return agentapi.ToTrain(e.Batch, w.seen.snapshot.Job(e.Spec.ID), e.Status.Allocation, len(e.Held))
}

// ladder returns the batch sizes with which a job whose speed nobody knows takes its first
// steps.
func (w *World) ladder(e *entry) []int {
	if row := w.seen.snapshot.Job(e.Spec.ID); row != nil && row.Perf != nil {
		return nil
	}
	return agentapi.Ladder(e.Spec, w.o.Machine.Type, len(e.Held))
}
