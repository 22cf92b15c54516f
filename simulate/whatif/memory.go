package whatif

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/journal"
)

var errNoMemory = errors.New("this program cannot continue from the checkpoint")

type runState struct {
	scheduler *scheduler.Memory
	policy    policy.Policy
	placer    placement.Placer // has no memory: placements depend on snapshot and plan
	learner   *Learner
	record    *calibration.Record
}

func (m *runState) Remember(c *memory.Codec) {
	kind := fmt.Sprintf("%T", m.policy)
	if c.Fields(&kind); kind != fmt.Sprintf("%T", m.policy) {
		c.Fail("a policy of type %s, want %T", kind, m.policy)
		return
	}
	c.Fields(m.scheduler, m.learner, m.record) // the scheduler first: the others refer to its jobs
	if of, remembers := m.policy.(memory.Rememberer); remembers {
		c.Fields(of)
	}
}

func (m *runState) write() ([]byte, error) {
	if m.record == nil {
		return nil, errNoMemory
	}
	data, err := memory.Marshal(m)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}

const mostRead = 1 << 30

// read reads the memory of a checkpoint into a run that has not begun. After errNoMemory the run is of no use.
func (m *runState) read(packed []byte) error {
	if len(packed) == 0 {
		return fmt.Errorf("%w: it has no memory", errNoMemory)
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), mostRead))
	if err == nil {
		err = memory.Unmarshal(data, m)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoMemory, err)
	}
	return nil
}

// A Run has the parts of a run before its start: scheduler, policy and placer.
type Run struct {
	Scheduler *scheduler.Scheduler
	Policy    policy.Policy // without its observers
	Placer    placement.Placer
	Options   scheduler.Options
	Cluster   *cluster.Cluster
	// Ahead makes the run's predictions, and must observe it before the Checkpointer; nil: the Checkpointer makes its
	// own predictions.
	Ahead *Predictor
	// Fresh makes a policy and placer with the run's options. If it and Ahead are nil, there are no predictions.
	Fresh func() (policy.Policy, placement.Placer, error)
}

// A Journal writes checkpoints. It is a *journal.Writer or wraps one.
type Journal interface {
	// Written returns the size of the journal in bytes, and the number of bytes after its last checkpoint.
	Written() (all, since int64)
	// Checkpoint records the state after the last round.
	Checkpoint(now time.Time, m *scheduler.Memory, memory []byte)
}

var _ Journal = (*journal.Writer)(nil)

// A Checkpointer is a scheduler.Observer that writes checkpoints into the journal of a run, so that RoundIn can start
// there and need not replay the whole run. Register it after the Writer of the journal.
//
// A checkpoint is due 4 MiB after the last one, or after 16 times the last one's size if that is more. Unless Run.Ahead
// is set, the Checkpointer makes a prediction before each checkpoint, for at most a tenth of the run's planning work.
type Checkpointer struct {
	// Due, if not nil, reports after each round whether a checkpoint is due although the journal is short.
	Due func(now time.Time) bool
	// Busy, if not nil, reports whether the policy may still be planning an earlier round, so that its memory
	// cannot be read.
	Busy func() bool

	run    Run
	w      Journal
	ahead  *Predictor
	own    bool
	rows   int // rows of the run's snapshots together
	looked int
	every  int64 // minimum number of bytes between checkpoints
	share  int64 // minimum distance of checkpoints, in lengths of a checkpoint
	due    int64 // bytes after the last checkpoint when the next one is due
}

const (
	checkpointEvery = 4 << 20
	checkpointShare = 16
	lookShare       = 10
)

// NewCheckpointer returns a Checkpointer that writes to journal w, for a run that has not started.
func NewCheckpointer(run Run, w Journal) *Checkpointer {
	c := &Checkpointer{run: run, w: w, ahead: run.Ahead, own: run.Ahead == nil, every: checkpointEvery, share: checkpointShare, due: checkpointEvery}
	if c.own {
		c.ahead = NewPredictor(run.Fresh, run.Options, run.Cluster.Types())
		c.ahead.options.Coarse, c.ahead.options.rows = coarseShare, &c.looked
		c.ahead.Decided = DecidedBy(run.Policy, run.Fresh)
	}
	return c
}

func (c *Checkpointer) memory() *runState {
	return &runState{c.run.Scheduler.Memory(), c.run.Policy, c.run.Placer, c.ahead.learn, c.ahead.record}
}

// Event implements scheduler.Observer.
func (c *Checkpointer) Event(now time.Time, ev scheduler.Event) {
	if c.own {
		c.ahead.Event(now, ev)
	}
}

// Round implements scheduler.Observer. It writes no checkpoint while background work of the policy is running.
func (c *Checkpointer) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	if c.own {
		c.ahead.Round(s, p, acts)
	}
	c.rows += len(s.Jobs)
	_, since := c.w.Written()
	if since < c.due && (c.Due == nil || !c.Due(s.Now)) || c.run.Scheduler.Memory().Computing() || c.Busy != nil && c.Busy() {
		return
	}
	if c.own && c.run.Fresh != nil && lookShare*c.looked <= c.rows {
		c.ahead.LookFor(context.Background())
	}
	c.write(s.Now)
}

func (c *Checkpointer) write(now time.Time) {
	c.ahead.mu.Lock()
	defer c.ahead.mu.Unlock()
	data, err := c.memory().write()
	if err != nil || len(data) > journal.MostMemory {
		data = nil // readers replay from an earlier checkpoint, or from the start
	}
	before, _ := c.w.Written()
	c.w.Checkpoint(now, c.run.Scheduler.Memory(), data)
	after, _ := c.w.Written()
	c.due = max(c.every, c.share*(after-before))
}

func learnerOf(so scheduler.Options, types []cluster.TypeInfo) *Learner {
	so.Estimate.Types = types
	so.Estimate.Share = true // a job is expected to be as fast as others of its class
	return NewLearner(so.Estimate)
}

func (o *Options) began(h *journal.Header) (*runState, scheduler.Options, error) {
	so := o.Scheduler
	so.Round = h.Round
	p, placer, err := o.Fresh()
	if err != nil {
		return nil, so, err
	}
	s, err := scheduler.New(p, placer, h.Cluster, so)
	if err != nil {
		return nil, so, err
	}
	return &runState{s.Memory(), p, placer, learnerOf(so, h.Cluster.Types()), calibration.New(so.Round)}, so, nil
}

var _ scheduler.Observer = (*Checkpointer)(nil)
