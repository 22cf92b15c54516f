package slurm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Reader says what jobs and nodes a Slurm has.
type Reader interface {
	Jobs(ctx context.Context) ([]client.Job, error)
	Nodes(ctx context.Context) ([]client.Node, error)
}

// Options configure a Backend.
type Options struct {
	Bounds  Bounds        // which jobs take part
	Slurm   Reader        // is read
	Writer  *Writer       // gives commands
	Poll    time.Duration // between looks at Slurm; default 5 s
	Grace   time.Duration // from the notice to a job until it is stopped; default 60 s
	Start   time.Duration // that a released job may wait until it is held again; default 2 min
	Agents  string        // folder in which jobs find the agent API; empty: it is not served
	Reports ReportStore   // keeps what programs sent; empty: it is not kept
	Report  time.Duration // between the reports of a program; default 30 s
	// Silence is how long a program that has a token may say nothing, while its job runs, until that is said; default 10 min.
	Silence time.Duration
	Log     *slog.Logger
}

// DefaultOptions returns the defaults; Bounds, Slurm, Writer and Log are still to be filled in.
func DefaultOptions() Options {
	return Options{Poll: 5 * time.Second, Grace: time.Minute, Start: 2 * time.Minute, Report: 30 * time.Second, Silence: 10 * time.Minute}
}

// Why a Backend ends by itself.
var (
	ErrOvertaken = errors.New("another scheduler, started later, serves the partition")
	ErrTypes     = errors.New("there are GPUs of a type that was not there: start the scheduler again")
)

// A Backend is a scheduler.Backend, and an Observer of its own scheduler. Make one with Open. Next and Do
// are for the scheduler's goroutine; everything else is safe for concurrent use.
type Backend struct {
	o     Options
	epoch int64
	boot  boot

	*driver.Table[*entry]
	cluster *cluster.Cluster
	first   *cluster.Cluster // all nodes, when the Backend was opened
	numbers map[client.ID]*entry
	entered map[client.ID]int // how many jobs had a number: the scheduler takes each ID once
	trouble string
	tokens  map[bearer]job.ID // of the jobs that have not ended; "": more than one has the token
}

var _ driver.Backend = (*Backend)(nil)

// newQueue makes the queue of events; tests give it another clock.
var newQueue = driver.NewQueue

// Open returns a Backend of the elastic jobs that Slurm shows. They arrive as Restored, by number. It
// gives no commands. It returns an error if Slurm does not answer, or the partition has no GPUs.
func Open(ctx context.Context, o Options) (*Backend, error) {
	w := &Backend{o: o, numbers: map[client.ID]*entry{}, entered: map[client.ID]int{}}
	w.Table = driver.NewTable(newQueue(), release, w.forget)
	seen, err := w.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	if _, err := w.settled(ctx); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	if len(seen.Nodes) == 0 {
		return nil, fmt.Errorf("slurm: partition %s has no node with GPUs of one type: %q", o.Bounds.Partition, seen.Left)
	}
	if w.cluster, err = cluster.New(seen.Nodes); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	w.first = w.cluster
	w.epoch = max(time.Now().UnixNano(), seen.Epoch+1)
	w.reconcile(seen, restored)
	if err := w.o.Reports.Prune(func(id job.ID) bool {
		return slices.ContainsFunc(w.Order, func(e *entry) bool { return e.key() == id })
	}); err != nil {
		w.o.Log.Warn("what jobs said that have ended is still kept", "err", err)
	}
	w.Events.Begin()
	return w, nil
}

func (b *Backend) look(ctx context.Context) (*Observation, error) {
	jobs, err := b.o.Slurm.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := b.o.Slurm.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return Observe(time.Now(), jobs, nodes, &b.o.Bounds), nil
}

// Cluster returns the nodes of the partition as they were when the Backend was opened. Events say what of
// them elastic jobs may have.
func (b *Backend) Cluster() *cluster.Cluster { return b.first }

// Execute brings Slurm closer to the plan until ctx is done: at every poll, and when there is a new
// plan.
func (b *Backend) Execute(ctx context.Context) error {
	return b.Repeat(ctx, b.o.Poll, func() {
		if err := b.pass(ctx); err != nil && ctx.Err() == nil {
			b.complain(err)
		}
	})
}

// complain logs an error that is not the one before.
func (b *Backend) complain(err error) {
	b.Lock()
	defer b.Unlock()
	if text := err.Error(); text != b.trouble {
		b.trouble = text
		b.o.Log.Warn("Slurm cannot be told anything now", "err", text)
	}
}

// Trouble returns what keeps the Backend from giving commands, for people; empty if nothing does.
func (b *Backend) Trouble() string {
	b.Lock()
	defer b.Unlock()
	return b.trouble
}

// pass observes, tells the scheduler what is new, and gives the commands that are next. It returns an
// error if Slurm does not answer.
func (b *Backend) pass(ctx context.Context) error {
	seen, err := b.look(ctx)
	if err != nil {
		return err
	}
	steps, err := b.unsettled(ctx, b.steps(seen))
	if err != nil {
		return err
	}
	return b.carry(ctx, steps)
}

// steps takes over an observation, and returns the commands that are next; none once the Backend is over.
func (b *Backend) steps(seen *Observation) []Step {
	b.Lock()
	defer b.Unlock()
	if b.trouble = ""; seen.Epoch > b.epoch {
		b.End(fmt.Errorf("partition %s: %w", b.o.Bounds.Partition, ErrOvertaken))
	}
	if b.Ends() != nil {
		return nil
	}
	b.reconcile(seen, submitted)
	b.listen(time.Now())
	return Steps(seen, b.wishes(), Times{Grace: b.o.Grace, Epoch: b.epoch, Agents: b.o.Agents})
}

// carry gives commands as long as the limit allows. After one that was refused, no further one about
// the same job.
func (b *Backend) carry(ctx context.Context, steps []Step) error {
	refused := map[client.ID]bool{}
	for i := range steps {
		s := &steps[i]
		if refused[s.Job] {
			continue
		}
		switch err := b.o.Writer.Do(ctx, s); {
		case err == nil:
			b.carried(s)
		case errors.Is(err, ErrBusy):
			return nil
		case errors.Is(err, ErrRefused):
			refused[s.Job] = true
			b.refused(s, err)
		default:
			return err
		}
	}
	return nil
}
