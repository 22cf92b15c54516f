package local

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

// agents answers the agents of the jobs of a World.
type agents struct{ w *World }

// Agents returns what answers the agents of the world's jobs.
func (w *World) Agents() agentapi.Jobs { return agents{w} }

// Job implements agentapi.Jobs. Tokens are random; they are looked up in a map, whose time
// depends on a keyed hash of the whole token.
func (a agents) Job(_ context.Context, token string) (job.ID, error) {
	a.w.Lock()
	defer a.w.Unlock()
	id, ok := a.w.jobs.tokens[token]
	if !ok {
		return "", agentapi.ErrUnknown
	}
	return id, nil
}

// present returns a job and its run if a message is of a generation that lives, also of one
// that is to stop. There is one such at a time, since the next begins when it is over.
func (a agents) present(id job.ID, generation int) (*entry, *run, error) {
	e := a.w.jobs.ByID[id]
	if e == nil || e.Over {
		return nil, nil, agentapi.ErrUnknown
	}
	if r := e.run(generation); r != nil {
		return e, r, nil
	}
	return nil, nil, fmt.Errorf("%w: this is %d, the present one is %d", agentapi.ErrGeneration, generation, e.Generation)
}

// Hello implements agentapi.Jobs: the job's program says what it is, and that it trains.
func (a agents) Hello(_ context.Context, id job.ID, h *agentapi.Hello) (*agentapi.Welcome, error) {
	w := a.w
	w.Lock()
	defer w.Unlock()
	e, r, err := a.present(id, h.Generation)
	if err != nil {
		return nil, err
	}
	if r.slots != nil && h.WorldSize != len(r.slots) {
		return nil, fmt.Errorf("%w: %d workers, want %d", agentapi.ErrInvalid, h.WorldSize, len(r.slots))
	}
	if e.Heard.IsZero() && !e.planned.IsZero() && r == e.current() {
		e.Starts.Add(time.Since(e.planned))
	}
	e.Heard = time.Now() // whether it can be written down or not
	if err := w.jobs.describe(e, h.Described(e.Asked, w.o.Machine.Type, e.Starts.Value())); err != nil {
		return nil, err
	}
	e.spoke = true
	w.jobs.notSilent(e)
	w.jobs.runs(e, r, h.Restored)
	return &agentapi.Welcome{Batch: a.batch(e), ReportSeconds: w.o.Report.Seconds(), Profile: a.ladder(e)}, nil
}

// Report implements agentapi.Jobs.
func (a agents) Report(_ context.Context, id job.ID, r *agentapi.Report) (*agentapi.Answer, error) {
	w := a.w
	w.Lock()
	defer w.Unlock()
	e, on, err := a.present(id, r.Generation)
	if err != nil {
		return nil, err
	}
	report := r.Job(id, on.allocation.Configuration, on.allocation.CPUs, on.allocation.Memory)
	e.Heard = time.Now() // whether it can be written down or not
	w.jobs.notSilent(e)
	if err := w.jobs.report(e, &report); err != nil {
		return nil, err
	}
	answer := &agentapi.Answer{Batch: a.batch(e)}
	if !on.stop.IsZero() {
		answer.Notice = &agentapi.Notice{Deadline: float64(on.stop.UnixNano()) / 1e9, Reason: on.why}
	}
	return answer, nil
}

// Checkpoint implements agentapi.Jobs.
func (a agents) Checkpoint(_ context.Context, id job.ID, c *agentapi.Checkpoint) error {
	w := a.w
	w.Lock()
	defer w.Unlock()
	e, r, err := a.present(id, c.Generation)
	if err != nil {
		return err
	}
	e.Heard = time.Now()
	w.jobs.notSilent(e)
	saved := store.Checkpoint{
		Step: c.Step, Progress: c.Progress, At: w.jobs.Events.Present(),
		Bytes: c.Bytes, Checksum: c.Checksum, Path: c.Path, Seconds: c.Seconds,
	}
	failures := e.Failures
	if saved.Step > r.step {
		failures = 0
	}
	if err := w.jobs.wrote(w.jobs.store.Checkpoint(id, saved, failures)); err != nil {
		return err
	}
	e.Job.Previous, e.Job.Checkpoint, e.Failures = e.Job.Checkpoint, &saved, failures
	return nil
}

// batch returns the batch size for a job to train with; zero, the client's own choice, where
// the total is the user's or nothing is known yet.
func (a agents) batch(e *entry) agentapi.Batch {
	return agentapi.ToTrain(e.Batch, a.w.Snapshot.Job(e.Spec.ID), e.Status.Allocation, len(e.Held))
}

// ladder returns the batch sizes with which a job whose speed nobody knows takes its first
// steps.
func (a agents) ladder(e *entry) []int {
	if row := a.w.Snapshot.Job(e.Spec.ID); row != nil && row.Perf != nil {
		return nil
	}
	return agentapi.Ladder(e.Spec, a.w.o.Machine.Type, len(e.Held))
}
