package slurm

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/slurm/token"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A bearer is who speaks: the digest of a token, and the user that the token names.
type bearer struct{ digest, user string }

// takeTokens notes whose tokens are good. Two jobs with one token, of a script that was submitted twice,
// cannot be told apart, so neither is heard.
func (w *World) takeTokens() {
	before := w.tokens
	w.tokens = make(map[bearer]job.ID, len(w.Order))
	for _, e := range w.Order {
		b := bearer{e.seen.Token, e.seen.User}
		if e.Over || b.digest == "" {
			continue
		}
		if _, twice := w.tokens[b]; !twice {
			w.tokens[b] = e.spec.ID
			continue
		}
		w.tokens[b] = ""
		if was, known := before[b]; !known || was != "" {
			w.o.Log.Warn("jobs with one token are not heard: submit each by a command of its own", "job", e.spec.ID, "user", b.user)
		}
	}
}

// agents answers the programs of the jobs of a World.
type agents struct{ w *World }

// Agents returns what answers the programs of the world's jobs.
func (w *World) Agents() agentapi.Jobs { return agents{w} }

// Job implements agentapi.Jobs. A token is looked up by its digest.
func (a agents) Job(_ context.Context, text string) (job.ID, error) {
	user, ok := token.User(text)
	digest := token.Digest(text)
	a.w.Lock()
	defer a.w.Unlock()
	id := a.w.tokens[bearer{digest, user}]
	if !ok || id == "" {
		return "", agentapi.ErrUnknown
	}
	return id, nil
}

// present returns the job that a message is of, if Slurm was seen to run the start that sends it. Slurm
// counts starts by requeues, and so does the job's script. Of two starts Slurm runs the later one, so what
// the earlier one sends is refused for good, wherever it still runs; a start that was not seen yet is to
// send again.
func (w *World) present(id job.ID, generation int) (*entry, error) {
	e, err := w.Get(id)
	if err != nil || e.Over {
		return nil, agentapi.ErrUnknown
	}
	switch now := e.seen.Restarts + 1; {
	case generation < now:
		return nil, fmt.Errorf("%w: this is %d, the present one is %d", agentapi.ErrGeneration, generation, now)
	case generation > now || !e.seen.Running():
		return nil, fmt.Errorf("start %d: %w", generation, agentapi.ErrLater)
	}
	w.hears(e)
	return e, nil
}

// Hello implements agentapi.Jobs: the job's program says what it is.
func (a agents) Hello(_ context.Context, id job.ID, h *agentapi.Hello) (*agentapi.Welcome, error) {
	w := a.w
	w.Lock()
	e, err := w.present(id, h.Generation)
	if err == nil && h.WorldSize != e.seen.Configuration.GPUs {
		err = fmt.Errorf("%w: %d workers, want %d, one for each GPU", agentapi.ErrInvalid, h.WorldSize, e.seen.Configuration.GPUs)
	}
	if err != nil {
		w.Unlock()
		return nil, err
	}
	w.greet(e, h)
	welcome := &agentapi.Welcome{Batch: w.batch(e), ReportSeconds: w.o.Report.Seconds(), Profile: w.ladder(e)}
	w.Unlock()
	w.save(e)
	return welcome, nil
}

// greet takes over what a program says of itself, and from where it goes on.
func (w *World) greet(e *entry, h *agentapi.Hello) {
	planned := e.asPlanned()
	if last := e.said.Hello; planned && !e.held.since.IsZero() && (last == nil || last.Generation != h.Generation) {
		e.Starts.Add(time.Since(e.held.since))
	}
	e.said.Token, e.said.Hello = e.seen.Token, h
	if h.Batch.LocalMax > 0 {
		e.said.LocalMax = maps.Clone(e.said.LocalMax)
		if e.said.LocalMax == nil {
			e.said.LocalMax = map[cluster.GPUType]int{}
		}
		e.said.LocalMax[e.seen.Configuration.GPUType] = h.Batch.LocalMax
	}
	if e.said.Progress = 0; h.Restored != nil {
		e.said.Progress = h.Restored.Progress
	}
	if w.describe(e); planned {
		e.greets = false
		w.Events.Emit(scheduler.Reported{Report: e.resumed()})
	}
}

// Report implements agentapi.Jobs. A report whose unit no Hello has said is dropped.
func (a agents) Report(_ context.Context, id job.ID, r *agentapi.Report) (*agentapi.Answer, error) {
	w := a.w
	w.Lock()
	defer w.Unlock()
	e, err := w.present(id, r.Generation)
	if err != nil {
		return nil, err
	}
	answer := &agentapi.Answer{Batch: w.batch(e)}
	switch stops := e.seen.Mark.Stopping || !e.noticed.IsZero(); {
	case stops:
		answer.Notice = &agentapi.Notice{Deadline: float64(w.deadline(e).Unix()), Reason: "its GPUs are given to others, or it is to have other ones"}
	case e.said.Hello != nil && e.asPlanned():
		e.said.Progress, e.said.Epoch = r.Progress, r.Epoch
		w.Events.Emit(scheduler.Reported{Report: r.Job(id, e.held.allocation.Configuration, 0, 0)})
	}
	return answer, nil
}

// deadline returns until when a job that is told to stop must have ended.
func (w *World) deadline(e *entry) time.Time {
	if e.noticed.IsZero() { // by an earlier scheduler
		return time.Now().Add(w.o.Grace)
	}
	return e.noticed.Add(w.o.Grace)
}

// Checkpoint implements agentapi.Jobs.
func (a agents) Checkpoint(_ context.Context, id job.ID, c *agentapi.Checkpoint) error {
	w := a.w
	w.Lock()
	e, err := w.present(id, c.Generation)
	if err == nil {
		e.said.Progress, e.said.Epoch = c.Progress, c.Epoch
	}
	w.Unlock()
	if err == nil {
		w.save(e)
	}
	return err
}

// save keeps what a job's program has said, for the next scheduler. Messages of one job come one after
// another, so an older record never takes the place of a newer one.
func (w *World) save(e *entry) {
	w.Lock()
	id, record, ended := e.key(), e.said, e.Over
	w.Unlock()
	if record.Hello == nil || ended {
		return
	}
	if err := w.o.Said.Save(id, &record); err != nil {
		w.o.Log.Warn("the next scheduler will not know what a program said", "err", err)
	}
}

// recall takes over what an earlier scheduler has kept of a job.
func (w *World) recall(e *entry) {
	r, err := w.o.Said.Load(e.key(), e.seen.Token)
	if err != nil {
		w.o.Log.Warn("reports of a job are dropped until its next start", "err", err)
	}
	e.said = r
}

// described returns what the job's user asks for, with what its program says.
func (e *entry) described() *job.Spec {
	if e.said.Hello == nil {
		return e.asked
	}
	spec := e.said.Hello.Described(e.asked, e.seen.Configuration.GPUType, e.Starts.Value())
	spec.Batch.LocalMax = e.said.LocalMax
	return spec
}

// asPlanned reports whether what runs is what was planned last, and the scheduler knows it.
func (e *entry) asPlanned() bool {
	return e.wants() && e.seen.Running() && !e.seen.Mark.Stopping && e.trains == e.held.generation
}

// resumed returns the report that a start trains from where the job was.
func (e *entry) resumed() job.Report {
	return job.Report{Job: e.spec.ID, Configuration: e.held.allocation.Configuration, Progress: e.said.Progress, Epoch: e.said.Epoch}
}

// batch returns the batch size for a job to train with.
func (w *World) batch(e *entry) agentapi.Batch {
	return agentapi.ToTrain(e.held.batch, w.Snapshot.Job(e.spec.ID), e.held.allocation, e.seen.Configuration.GPUs)
}

// ladder returns the batch sizes with which a job whose speed nobody knows takes its first steps.
func (w *World) ladder(e *entry) []int {
	if row := w.Snapshot.Job(e.spec.ID); row != nil && row.Perf != nil || !e.asPlanned() {
		return nil
	}
	return agentapi.Ladder(e.spec, e.held.allocation.Configuration.GPUType, e.seen.Configuration.GPUs)
}
