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

// An Agents passes the messages of training programs to a Feed. It has all methods of agentapi.Jobs but Job, which each
// backend implements to check tokens.
type Agents struct {
	feed  *Feed
	every time.Duration
	find  func(id job.ID, generation int) (Program, *Start, error)
	saved func(id job.ID)
}

// NewAgents returns Agents for the jobs of Feed f, whose programs report once per interval. find records that a job
// sent a message, and returns the job's current start, or agentapi.ErrUnknown, ErrGeneration or ErrLater; it is called
// while f is locked. saved, if not nil, is called after each Hello and Checkpoint, while f is not locked.
func NewAgents(f *Feed, interval time.Duration, find func(id job.ID, generation int) (Program, *Start, error), saved func(id job.ID)) *Agents {
	return &Agents{f, interval, find, saved}
}

// A Program handles the messages of one start (launch) of a job. Its methods are called while the Feed is locked.
type Program interface {
	// Hello returns the updated description of the job.
	Hello(h *agentapi.Hello) (*job.Spec, error)
	Report(r *agentapi.Report) error
	Checkpoint(c *agentapi.Checkpoint) error
}

// A Start describes one start (launch) of a job, as known when a message of its program arrives.
type Start struct {
	Least, Most int            // number of workers that the job may have; Most is 0 if unknown
	Planned     time.Time      // time of the decision to start; zero unless the duration of the start is still to be measured
	Took        *agentapi.Mean // mean of the measured durations of starts
	Batch       job.BatchSize  // planned batch size; zero if the program decides
	Allocation  cluster.Allocation
	Type        cluster.GPUType
	GPUs        int
	Unsettled   bool             // its processes differ from the plan: profile nothing
	Notice      *agentapi.Notice // request to stop; nil if there is none
}

// Hello implements agentapi.Jobs.
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
	if !s.Unsettled && (row == nil || row.Perf == nil) { // its speed is not known
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

func (s *Start) batch(row *policy.Job) agentapi.Batch {
	return agentapi.ToTrain(s.Batch, row, s.Allocation, s.GPUs)
}

// OtherGeneration returns the error for a message from start number sent of a job whose current start has number
// present.
func OtherGeneration(sent, present int) error {
	return fmt.Errorf("%w: the message is from generation %d, the current one is %d", agentapi.ErrGeneration, sent, present)
}
