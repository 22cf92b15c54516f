package local

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/perf"
	"github.com/oxgang/oxgang/perf/profile"
	"github.com/oxgang/oxgang/scheduler"
)

var _ agentapi.Jobs = (*World)(nil)

// Job implements agentapi.Jobs. Tokens are random; they are looked up in a map, whose time
// depends on a keyed hash of the whole token.
func (w *World) Job(token string) (job.ID, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, ok := w.tokens[token]
	return id, ok
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
		e.measured.add(time.Since(e.planned))
	}
	e.heard = time.Now() // whether it can be written down or not
	if err := w.describe(e, described(e, h, w.o.Machine.Type)); err != nil {
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

// described returns what a job is: what its user asked for, and what its program says.
func described(e *entry, h *agentapi.Hello, t cluster.GPUType) *job.Spec {
	spec := *e.Asked
	spec.BatchSize = h.Batch.Init
	spec.Batch = job.BatchLimits{Init: h.Batch.Init, Max: h.Batch.Max, LocalMin: h.Batch.LocalMin}
	if h.Batch.LocalMax > 0 {
		spec.Batch.LocalMax = map[cluster.GPUType]int{t: h.Batch.LocalMax}
	}
	if h.Batch.Adaptive {
		spec.Adaptivity |= job.BatchSizes
	}
	if h.Samples > 0 {
		spec.Target = h.Samples
	}
	spec.Schedule.Epochs = h.Epochs
	for _, r := range h.Schedule {
		spec.Schedule.Mode = job.Given
		spec.Schedule.Regimes = append(spec.Schedule.Regimes, job.Regime{BatchSize: r.BatchSize, Epochs: r.Epochs})
	}
	if e.measured.n > 0 {
		spec.RestartOverhead = e.measured.mean.Round(time.Millisecond)
	}
	return &spec
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
	if e.Batch.Local > 0 {
		return agentapi.Batch{Local: e.Batch.Local, Accumulation: e.Batch.Accumulation}
	}
	row := w.seen.row(e.Spec.ID)
	if !e.Spec.Adaptivity.Has(job.BatchSizes) || row == nil || row.Perf == nil {
		return agentapi.Batch{}
	}
	_, best := perf.BestBatch(row.Perf, e.Status.Allocation, len(e.Held), row.Limits)
	return agentapi.Batch{Local: best.Local, Accumulation: best.Accumulation}
}

// rungs is how many batch sizes a job is measured with while it trains.
const rungs = 4

// ladder returns the batch sizes with which a job whose speed nobody knows takes its first
// steps: where the total is fixed, by accumulation, so that the training is the same.
// Source: Sia §3.3.2.
func (w *World) ladder(e *entry) []int {
	if row := w.seen.row(e.Spec.ID); row != nil && row.Perf != nil {
		return nil
	}
	limits := e.Spec.Batch
	if !e.Spec.Adaptivity.Has(job.BatchSizes) {
		limits.Max = (limits.Init + len(e.Held) - 1) / len(e.Held)
	}
	return profile.Ladder(&limits, w.o.Machine.Type, rungs)
}
