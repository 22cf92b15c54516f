package slurm

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/comment"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A bearer is who speaks: the digest of a token, and the user that the token names.
type bearer struct{ digest, user string }

// takeTokens notes whose tokens are good. Two jobs with one token, of a script that was submitted twice,
// cannot be told apart, so neither is heard.
func (b *Backend) takeTokens() {
	before := b.tokens
	b.tokens = make(map[bearer]job.ID, len(b.Order))
	for _, e := range b.Order {
		from := bearer{e.seen.Token, e.seen.User}
		if e.Over || from.digest == "" {
			continue
		}
		if _, twice := b.tokens[from]; !twice {
			b.tokens[from] = e.spec.ID
			continue
		}
		b.tokens[from] = ""
		if was, known := before[from]; !known || was != "" {
			b.o.Log.Warn("jobs with one token are not heard: submit each by a command of its own", "job", e.spec.ID, "user", from.user)
		}
	}
}

// agents answers the programs of the jobs of a Backend.
type agents struct {
	*driver.Agents
	b *Backend
}

// Agents returns what answers the programs of the backend's jobs.
func (b *Backend) Agents() agentapi.Jobs {
	return agents{driver.NewAgents(b.Feed, b.o.Report, b.agent, b.save), b}
}

// Job implements agentapi.Jobs. A token is looked up by its digest.
func (a agents) Job(_ context.Context, text string) (job.ID, error) {
	user, ok := comment.TokenUser(text)
	digest := comment.Digest(text)
	a.b.Lock()
	defer a.b.Unlock()
	id := a.b.tokens[bearer{digest, user}]
	if !ok || id == "" {
		return "", agentapi.ErrUnknown
	}
	return id, nil
}

// An agent is that of the start that Slurm runs.
type agent struct {
	b *Backend
	e *entry
}

// agent returns the agent that sends a message, if Slurm was seen to run its start. Slurm counts starts by requeues,
// and so does the job's script. Of two starts Slurm runs the later one, so what the earlier one sends is refused for good,
// wherever it still runs; a start that was not seen yet is to send again.
func (b *Backend) agent(id job.ID, generation int) (driver.Program, *driver.Start, error) {
	e, err := b.Get(id)
	if err != nil || e.Over {
		return nil, nil, agentapi.ErrUnknown
	}
	switch now := e.seen.Restarts + 1; {
	case generation < now:
		return nil, nil, driver.OtherGeneration(generation, now)
	case generation > now || !e.seen.Running():
		return nil, nil, fmt.Errorf("start %d: %w", generation, agentapi.ErrLater)
	}
	b.hears(e)
	return agent{b, e}, b.startOf(e), nil
}

// startOf returns what is known of the start of a job that runs.
func (b *Backend) startOf(e *entry) *driver.Start {
	a, gpus, planned := e.held.allocation, e.seen.Configuration.GPUs, e.asPlanned()
	s := &driver.Start{
		Least: gpus, Most: gpus, Took: &e.Starts, Unsettled: !planned,
		Batch: e.held.batch, Allocation: a, Type: a.Configuration.GPUType, GPUs: gpus,
	}
	if last := e.program.Hello; planned && (last == nil || last.Generation != e.seen.Restarts+1) {
		s.Planned = e.held.since
	}
	if e.seen.Mark.Stopping || !e.noticed.IsZero() {
		s.Notice = &agentapi.Notice{Deadline: float64(b.deadline(e).Unix()), Reason: "its GPUs are given to others, or it is to have other ones"}
	}
	return s
}

// Hello implements driver.Program: it takes over what a program says of itself, and from where it goes on.
func (a agent) Hello(h *agentapi.Hello) (*job.Spec, error) {
	b, e := a.b, a.e
	planned := e.asPlanned()
	e.program.Token, e.program.Hello = e.seen.Token, h
	if h.Batch.LocalMax > 0 {
		e.program.LocalMax = maps.Clone(e.program.LocalMax)
		if e.program.LocalMax == nil {
			e.program.LocalMax = map[cluster.GPUType]int{}
		}
		e.program.LocalMax[e.seen.Configuration.GPUType] = h.Batch.LocalMax
	}
	if e.program.Progress = 0; h.Restored != nil {
		e.program.Progress = h.Restored.Progress
	}
	if b.describe(e); planned {
		e.greets = false
		b.Events.Emit(scheduler.Reported{Report: e.resumed()})
	}
	return e.spec, nil
}

// Report implements driver.Program. A report whose unit no Hello has said is dropped.
func (a agent) Report(r *agentapi.Report) error {
	e := a.e
	if stops := e.seen.Mark.Stopping || !e.noticed.IsZero(); !stops && e.program.Hello != nil && e.asPlanned() {
		e.program.Progress, e.program.Epoch = r.Progress, r.Epoch
		a.b.Events.Emit(scheduler.Reported{Report: r.Job(e.ID, e.held.allocation.Configuration, 0, 0)})
	}
	return nil
}

// Checkpoint implements driver.Program.
func (a agent) Checkpoint(c *agentapi.Checkpoint) error {
	a.e.program.Progress, a.e.program.Epoch = c.Progress, c.Epoch
	return nil
}

// deadline returns until when a job that is told to stop must have ended.
func (b *Backend) deadline(e *entry) time.Time {
	if e.noticed.IsZero() { // by an earlier scheduler
		return time.Now().Add(b.o.Grace)
	}
	return e.noticed.Add(b.o.Grace)
}

// save keeps what a job's program has said, for the next scheduler. Messages of one job come one after
// another, so an older record never takes the place of a newer one.
func (b *Backend) save(id job.ID) {
	b.Lock()
	e, err := b.Get(id)
	if err != nil || e.program.Hello == nil || e.Over {
		b.Unlock()
		return
	}
	key, record := e.key(), e.program
	b.Unlock()
	if err := b.o.Reports.Save(key, &record); err != nil {
		b.o.Log.Warn("the next scheduler will not know what a program said", "err", err)
	}
}

// recall takes over what an earlier scheduler has kept of a job.
func (b *Backend) recall(e *entry) {
	r, err := b.o.Reports.Load(e.key(), e.seen.Token)
	if err != nil {
		b.o.Log.Warn("reports of a job are dropped until its next start", "err", err)
	}
	e.program = r
}

// described returns what the job's user asks for, with what its program says.
func (e *entry) described() *job.Spec {
	if e.program.Hello == nil {
		return e.asked
	}
	spec := e.program.Hello.Described(e.asked, e.seen.Configuration.GPUType, e.Starts.Value())
	spec.Batch.LocalMax = e.program.LocalMax
	return spec
}

// asPlanned reports whether what runs is what was planned last, and the scheduler knows it.
func (e *entry) asPlanned() bool {
	return e.wants() && e.seen.Running() && !e.seen.Mark.Stopping && e.trains == e.held.generation
}

// resumed returns the report that a start trains from where the job was.
func (e *entry) resumed() job.Report {
	return job.Report{Job: e.spec.ID, Configuration: e.held.allocation.Configuration, Progress: e.program.Progress, Epoch: e.program.Epoch}
}
