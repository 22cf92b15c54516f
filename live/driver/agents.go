package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// Agents answers the messages of the programs of a backend's jobs: all of agentapi.Jobs but Job, by
// which a backend checks their tokens.
type Agents struct {
	feed  *Feed
	every time.Duration
	find  func(id job.ID, generation int) (Program, *Start, error)
	saved func(id job.ID)
}

// NewAgents returns what answers the programs of the jobs of a Feed. They report at every interval.
// find returns the start of a job that sends a message, and takes over that it sent one; or
// agentapi.ErrUnknown, ErrGeneration or ErrLater. It is called under the lock. saved, which may be
// nil, is called without it after each Hello and each Checkpoint.
func NewAgents(f *Feed, every time.Duration, find func(id job.ID, generation int) (Program, *Start, error), saved func(id job.ID)) *Agents {
	return &Agents{f, every, find, saved}
}

// A Program takes over what the program of one start of a job sends. It is called under the lock.
type Program interface {
	// Hello returns how the job is described now.
	Hello(h *agentapi.Hello) (*job.Spec, error)
	Report(r *agentapi.Report) error
	Checkpoint(c *agentapi.Checkpoint) error
}

// A Start is what is known of one start of a job when its program sends a message.
type Start struct {
	Least, Most int            // how many workers it may have; Most is 0 if that is not known
	Planned     time.Time      // zero: how long it took to start is not to be measured, or was already
	Took        *agentapi.Mean // has these measurements
	Batch       job.BatchSize  // of the plan; zero: the program decides
	Allocation  cluster.Allocation
	Type        cluster.GPUType
	GPUs        int
	Unsettled   bool             // what runs is not what is planned: nothing is profiled
	Notice      *agentapi.Notice // that it is to stop; nil: it is not
}

// Hello implements agentapi.Jobs: the program states what its job is, and that it trains.
func (a *Agents) Hello(_ context.Context, id job.ID, h *agentapi.Hello) (_ *agentapi.Welcome, err error) {
	defer a.save(id, &err)
	a.feed.Lock()
	defer a.feed.Unlock()
	p, s, err := a.find(id, h.Generation)
	if err != nil {
		return nil, err
	}
	if s.Most > 0 && (h.WorldSize < s.Least || h.WorldSize > s.Most) {
		want := fmt.Sprintf("%d, one for each GPU", s.Most)
		if s.Least < s.Most {
			want = fmt.Sprintf("%d, or one for each of %d GPUs", s.Least, s.Most)
		}
		return nil, fmt.Errorf("%w: %d workers, want %s", agentapi.ErrInvalid, h.WorldSize, want)
	}
	if !s.Planned.IsZero() {
		s.Took.Add(time.Since(s.Planned))
	}
	spec, err := p.Hello(h)
	if err != nil {
		return nil, err
	}
	row := a.feed.Snapshot.Job(id)
	w := &agentapi.Welcome{Batch: s.batch(row), ReportSeconds: a.every.Seconds()}
	if !s.Unsettled && (row == nil || row.Perf == nil) { // nobody knows its speed
		w.Profile = agentapi.Ladder(spec, s.Type, s.GPUs)
	}
	return w, nil
}

// Report implements agentapi.Jobs.
func (a *Agents) Report(_ context.Context, id job.ID, r *agentapi.Report) (*agentapi.Answer, error) {
	a.feed.Lock()
	defer a.feed.Unlock()
	p, s, err := a.find(id, r.Generation)
	if err == nil {
		err = p.Report(r)
	}
	if err != nil {
		return nil, err
	}
	return &agentapi.Answer{Batch: s.batch(a.feed.Snapshot.Job(id)), Notice: s.Notice}, nil
}

// Checkpoint implements agentapi.Jobs.
func (a *Agents) Checkpoint(_ context.Context, id job.ID, c *agentapi.Checkpoint) (err error) {
	defer a.save(id, &err)
	a.feed.Lock()
	defer a.feed.Unlock()
	p, _, err := a.find(id, c.Generation)
	if err == nil {
		err = p.Checkpoint(c)
	}
	return err
}

func (a *Agents) save(id job.ID, err *error) {
	if *err == nil && a.saved != nil {
		a.saved(id)
	}
}

// batch returns the batch size for a job to train with. row is the job in the last round; nil: it was not in it.
func (s *Start) batch(row *policy.Job) agentapi.Batch {
	return agentapi.ToTrain(s.Batch, row, s.Allocation, s.GPUs)
}

// OtherGeneration returns the error for a message of a generation that is not the present one.
func OtherGeneration(sent, present int) error {
	return fmt.Errorf("%w: this is %d, the present one is %d", agentapi.ErrGeneration, sent, present)
}
