package slurm

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

type bearer struct{ digest, user string }

// updateTokens maps tokens to jobs. Jobs with the same token (a script submitted twice) cannot be distinguished,
// so their messages are rejected.
func (b *Backend) updateTokens() {
	before := b.tokens
	b.tokens = make(map[bearer]job.ID, len(b.Order))
	for _, e := range b.Order {
		from := bearer{e.observed.Token, e.observed.User}
		if e.Over || from.digest == "" {
			continue
		}
		if _, twice := b.tokens[from]; !twice {
			b.tokens[from] = e.spec.ID
			continue
		}
		b.tokens[from] = ""
		if was, known := before[from]; !known || was != "" {
			b.o.Log.Warn("jobs share a token, so their messages are rejected: submit each with its own command", "job", e.spec.ID, "user", from.user)
		}
	}
}

type agents struct {
	*driver.Agents
	b *Backend
}

// agents returns the API with which the training programs of jobs reach the backend.
func (b *Backend) agents() agentapi.Jobs {
	return agents{driver.NewAgents(b.Feed, b.o.Report, b.agent, b.save), b}
}

func (a agents) Job(_ context.Context, text string) (job.ID, error) {
	user, ok := client.TokenUser(text)
	digest := client.Digest(text)
	a.b.Lock()
	defer a.b.Unlock()
	id := a.b.tokens[bearer{digest, user}]
	if !ok || id == "" {
		return "", agentapi.ErrUnknown
	}
	return id, nil
}

type agent struct {
	b *Backend
	e *entry
}

// agent compares starts: Slurm and the job's script both count starts by requeues. Messages of an earlier start
// are refused; a start that was not observed yet must send again.
func (b *Backend) agent(id job.ID, generation int) (driver.Program, *driver.Start, error) {
	e, err := b.Get(id)
	if err != nil || e.Over {
		return nil, nil, agentapi.ErrUnknown
	}
	switch now := e.observed.Restarts + 1; {
	case generation < now:
		return nil, nil, driver.OtherGeneration(generation, now)
	case generation > now || !e.observed.running():
		return nil, nil, fmt.Errorf("start %d: %w", generation, agentapi.ErrLater)
	}
	b.messageReceived(e)
	return agent{b, e}, b.startOf(e), nil
}

func (b *Backend) startOf(e *entry) *driver.Start {
	a, gpus, planned := e.planned.allocation, e.observed.Configuration.GPUs, e.asPlanned()
	s := &driver.Start{
		Least: gpus, Most: gpus, Took: &e.Starts, Unsettled: !planned,
		Batch: e.planned.batch, Allocation: a, Type: a.Configuration.GPUType, GPUs: gpus,
	}
	if last := e.program.Hello; planned && (last == nil || last.Generation != e.observed.Restarts+1) {
		s.Planned = e.planned.since
	}
	if e.observed.Mark.Stopping || !e.noticed.IsZero() {
		s.Notice = &agentapi.Notice{Deadline: float64(b.deadline(e).Unix()), Reason: "the job is preempted, or moves to other GPUs"}
	}
	return s
}

func (a agent) Hello(h *agentapi.Hello) (*job.Spec, error) {
	b, e := a.b, a.e
	planned := e.asPlanned()
	e.program.Token, e.program.Hello = e.observed.Token, h
	e.program.LocalMax = h.AddLocalMax(e.program.LocalMax, e.observed.Configuration.GPUType)
	if e.program.Progress = 0; h.Restored != nil {
		e.program.Progress = h.Restored.Progress
	}
	if b.describe(e); planned {
		e.awaitsHello = false
		b.Events.Emit(scheduler.Reported{Report: e.resumed()})
	}
	return e.spec, nil
}

func (a agent) Report(r *agentapi.Report) error {
	e := a.e
	if stops := e.observed.Mark.Stopping || !e.noticed.IsZero(); !stops && e.program.Hello != nil && e.asPlanned() {
		e.program.Progress, e.program.Epoch = r.Progress, r.Epoch
		a.b.Events.Emit(scheduler.Reported{Report: r.Job(e.ID, e.planned.allocation.Configuration, 0, 0)})
	}
	return nil
}

func (a agent) Checkpoint(c *agentapi.Checkpoint) error {
	a.e.program.Progress, a.e.program.Epoch = c.Progress, c.Epoch
	return nil
}

func (b *Backend) deadline(e *entry) time.Time {
	if e.noticed.IsZero() {
		return time.Now().Add(b.o.Grace)
	}
	return e.noticed.Add(b.o.Grace)
}

func (b *Backend) save(id job.ID) {
	b.Lock()
	e, err := b.Get(id)
	if err != nil || e.program.Hello == nil || e.Over {
		b.Unlock()
		return
	}
	key, record := e.key(), e.program
	b.Unlock()
	if err := b.o.Reports.save(key, &record); err != nil {
		b.o.Log.Warn("cannot store a program's message for the next scheduler", "err", err)
	}
}

func (b *Backend) recall(e *entry) {
	r, err := b.o.Reports.Load(e.key(), e.observed.Token)
	if err != nil {
		b.o.Log.Warn("cannot load the stored messages of a job; its reports are dropped until its next start", "err", err)
	}
	e.program = r
}

func (e *entry) described() *job.Spec {
	if e.program.Hello == nil {
		return e.request
	}
	spec := e.program.Hello.Described(e.request, e.observed.Configuration.GPUType, e.Starts.Value())
	spec.Batch.LocalMax = e.program.LocalMax
	return spec
}

func (e *entry) asPlanned() bool {
	return e.wants() && e.observed.running() && !e.observed.Mark.Stopping && e.running == e.planned.generation
}

func (e *entry) resumed() job.Report {
	return job.Report{Job: e.spec.ID, Configuration: e.planned.allocation.Configuration, Progress: e.program.Progress, Epoch: e.program.Epoch}
}

// helloWithin is how long a program with a token may run without a hello. Measured starts took 17 to 35 s
// (docs/experiments/slurm-resize.md).
const helloWithin = 2 * time.Minute

// findSilent finds programs with a token that have sent nothing for backendOptions.Silence.
//
// If the program had sent messages before, the job keeps what it holds until the next message. Otherwise the program
// may lack the client, so its job is resized by its time limit as if it had no token.
func (b *Backend) findSilent(now time.Time) {
	if b.o.Agents == "" {
		return
	}
	for _, e := range b.Order {
		if e.awaitsHello && !e.Over && now.Sub(e.runningSince) >= helloWithin {
			e.awaitsHello = false
			b.Events.Emit(scheduler.Reported{Report: e.resumed()})
		}
		last := e.runningSince
		if e.Heard.After(last) {
			last = e.Heard
		}
		if e.Silent || e.Over || e.observed.Token == "" || !e.asPlanned() || now.Sub(last) < b.o.Silence {
			continue
		}
		e.Silent = true
		b.o.Log.Warn("a program sends no messages: it hangs, cannot reach the agent API, or does not use the client", "job", e.spec.ID, "user", e.spec.User,
			"since", last.UTC().Format(time.RFC3339), "sent before", e.program.Hello != nil, "nodes", e.observed.Nodes)
		b.describe(e)
	}
}

func (b *Backend) messageReceived(e *entry) {
	e.Heard = time.Now()
	if e.Silent {
		e.Silent = false
		b.o.Log.Info("a program sends messages again", "job", e.spec.ID)
		b.describe(e)
	}
}
