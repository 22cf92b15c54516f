package local

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

type agents struct {
	*driver.Agents
	b *Backend
}

// Agents returns the API with which the training programs of jobs reach the backend.
func (b *Backend) Agents() agentapi.Jobs {
	return agents{driver.NewAgents(b.Feed, b.o.Report, b.agent, nil), b}
}

// Job implements agentapi.Jobs. The lookup's duration reveals nothing about tokens, because the map hashes them with a
// secret key.
func (a agents) Job(_ context.Context, token string) (job.ID, error) {
	a.b.Lock()
	defer a.b.Unlock()
	id, ok := a.b.jobs.tokens[token]
	if !ok {
		return "", agentapi.ErrUnknown
	}
	return id, nil
}

type runAgent struct {
	t *jobTable
	e *entry
	r *run
}

func (b *Backend) agent(id job.ID, generation int) (driver.Program, *driver.Start, error) {
	e := b.ByID[id]
	if e == nil || e.Over {
		return nil, nil, agentapi.ErrUnknown
	}
	r := e.run(generation)
	if r == nil {
		return nil, nil, driver.OtherGeneration(generation, e.Generation)
	}
	s := &driver.Start{
		Least: len(r.slots), Most: len(r.slots), Took: &e.Starts,
		Batch: e.Batch, Allocation: e.Status.Allocation, Type: b.o.Machine.Type, GPUs: len(e.Held),
	}
	if e.Heard.IsZero() && r == e.current() {
		s.Planned = e.planned
	}
	if !r.stop.IsZero() {
		s.Notice = &agentapi.Notice{Deadline: float64(r.stop.UnixNano()) / 1e9, Reason: r.why}
	}
	return runAgent{b.jobs, e, r}, s, nil
}

func (a runAgent) Hello(h *agentapi.Hello) (*job.Spec, error) {
	t, e := a.t, a.e
	e.Heard = time.Now() // even if storing it fails
	if err := t.describe(e, h.Described(e.Asked, t.o.Machine.Type, e.Starts.Value())); err != nil {
		return nil, err
	}
	e.hasClient = true
	t.notSilent(e)
	t.reportStart(e, a.r, h.Restored)
	return e.Spec, nil
}

func (a runAgent) Report(r *agentapi.Report) error {
	on := &a.r.allocation
	report := r.Job(a.e.ID, on.Configuration, on.CPUs, on.Memory)
	a.e.Heard = time.Now() // even if storing it fails
	a.t.notSilent(a.e)
	return a.t.report(a.e, &report)
}

func (a runAgent) Checkpoint(c *agentapi.Checkpoint) error {
	t, e := a.t, a.e
	e.Heard = time.Now()
	t.notSilent(e)
	saved := store.Checkpoint{
		Step: c.Step, Progress: c.Progress, At: t.Events.Present(),
		Bytes: c.Bytes, Checksum: c.Checksum, Path: c.Path, Seconds: c.Seconds,
	}
	failures := e.Failures
	if saved.Step > a.r.step {
		failures = 0
	}
	if err := t.wrote(t.store.Checkpoint(e.ID, saved, failures)); err != nil {
		return err
	}
	e.Job.Previous, e.Job.Checkpoint, e.Failures = e.Job.Checkpoint, &saved, failures
	return nil
}
