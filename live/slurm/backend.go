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
	"github.com/oxgang/oxgang/scheduler"
)

// A reader reads the jobs and nodes of a Slurm cluster.
type reader interface {
	Jobs(ctx context.Context) ([]client.Job, error)
	Nodes(ctx context.Context) ([]client.Node, error)
}

type backendOptions struct {
	Bounds  Bounds
	Slurm   reader
	Writer  *Writer       // sends commands
	Poll    time.Duration // interval of observations; default 5 s
	Grace   time.Duration // time from the request to stop a job until it is stopped; default 60 s
	Start   time.Duration // how long a released job may wait before it is held again; default 2 min
	Agents  string        // directory of the agent API; empty: not served
	Reports reportStore   // folder for stored messages; empty: none are stored
	Report  time.Duration // interval of a program's reports; default 30 s
	// Silence is how long a program with a token may send no message; default 10 min.
	Silence time.Duration
	Log     *slog.Logger
}

func defaultOptions() backendOptions {
	return backendOptions{Poll: 5 * time.Second, Grace: time.Minute, Start: 2 * time.Minute, Report: 30 * time.Second, Silence: 10 * time.Minute}
}

// Reasons for which a Backend ends.
var (
	errOvertaken = errors.New("a scheduler that started later now serves the partition")
	errTypes     = errors.New("nodes have a new GPU type: restart the scheduler")
)

// A Backend resizes the elastic jobs of a Slurm partition. It is a scheduler.Backend and an observer of its scheduler.
// Only the scheduler's goroutine may call Next and Do; other methods are safe for concurrent use.
type Backend struct {
	o     backendOptions
	epoch int64
	boot  boot

	*driver.Table[*entry]
	cluster *cluster.Cluster
	first   *cluster.Cluster // at Open
	numbers map[client.ID]*entry
	entered map[client.ID]int // by Slurm ID: the scheduler accepts an ID once
	trouble string
	tokens  map[bearer]job.ID // of jobs that have not ended; "": shared
}

var _ driver.Backend = (*Backend)(nil)

var newQueue = driver.NewQueue

// openBackend returns a Backend. Elastic jobs that are already in Slurm become events Restored.
func openBackend(ctx context.Context, o backendOptions) (*Backend, error) {
	w := &Backend{o: o, numbers: map[client.ID]*entry{}, entered: map[client.ID]int{}}
	w.Table = driver.NewTable(newQueue(), release, w.forget)
	observed, err := lookAt(ctx, o.Slurm, &o.Bounds)
	if err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	if _, err := w.settled(ctx); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	if len(observed.Nodes) == 0 {
		return nil, fmt.Errorf("slurm: partition %s has no usable node with GPUs: %q", o.Bounds.Partition, observed.Unused)
	}
	if w.cluster, err = cluster.New(observed.Nodes); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	w.first = w.cluster
	w.epoch = max(time.Now().UnixNano(), observed.Epoch+1)
	w.reconcile(observed, restored)
	if err := w.o.Reports.Prune(func(id job.ID) bool {
		return slices.ContainsFunc(w.Order, func(e *entry) bool { return e.key() == id })
	}); err != nil {
		w.o.Log.Warn("cannot remove the stored messages of ended jobs", "err", err)
	}
	w.Events.Begin()
	return w, nil
}

func lookAt(ctx context.Context, s reader, b *Bounds) (*Observation, error) {
	jobs, err := s.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := s.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return observe(time.Now(), jobs, nodes, b), nil
}

// Cluster returns the nodes of the partition when the Backend was opened. Events report later changes.
func (b *Backend) Cluster() *cluster.Cluster { return b.first }

// Execute sends Slurm the commands that the plan requires, at every poll and after every new plan, until ctx is done.
func (b *Backend) Execute(ctx context.Context) error {
	return b.Repeat(ctx, b.o.Poll, func() {
		if err := b.pass(ctx); err != nil && ctx.Err() == nil {
			b.complain(err)
		}
	})
}

func (b *Backend) complain(err error) {
	b.Lock()
	defer b.Unlock()
	if text := err.Error(); text != b.trouble {
		b.trouble = text
		b.o.Log.Warn("cannot read or command Slurm; trying again", "err", text)
	}
}

func (b *Backend) pass(ctx context.Context) error {
	observed, err := lookAt(ctx, b.o.Slurm, &b.o.Bounds)
	if err != nil {
		return err
	}
	steps, err := b.unsettled(ctx, b.steps(observed))
	if err != nil {
		return err
	}
	return b.carry(ctx, steps)
}

func (b *Backend) steps(observed *Observation) []step {
	b.Lock()
	defer b.Unlock()
	if b.trouble = ""; observed.Epoch > b.epoch {
		b.End(fmt.Errorf("partition %s: %w", b.o.Bounds.Partition, errOvertaken))
	}
	if b.Ends() != nil {
		return nil
	}
	b.reconcile(observed, submitted)
	b.findSilent(time.Now())
	return steps(observed, b.wishes(), times{Grace: b.o.Grace, Epoch: b.epoch, Agents: b.o.Agents})
}

// carry sends commands until the rate limit, and none about a job after a refusal.
func (b *Backend) carry(ctx context.Context, steps []step) error {
	refused := map[client.ID]bool{}
	for i := range steps {
		s := &steps[i]
		if refused[s.Job] {
			continue
		}
		switch err := b.o.Writer.Do(ctx, s); {
		case err == nil:
			b.carried(s)
		case errors.Is(err, errBusy):
			return nil
		case errors.Is(err, errRefused):
			refused[s.Job] = true
			b.refused(s, err)
		default:
			return err
		}
	}
	return nil
}

// Do implements scheduler.Backend. It stores the plan only in memory: after a restart, the scheduler plans again.
func (b *Backend) Do(ctx context.Context, actions []scheduler.Action) error {
	b.Lock()
	defer b.Unlock()
	defer driver.Wake(b.Work)
	if err := b.Apply(ctx, actions, plan{b}); err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	return nil
}

type plan struct{ b *Backend }

func (p plan) Preempt(a scheduler.Preempt) error {
	e, err := p.b.Get(a.Job)
	if err == nil {
		release(e)
	}
	return err
}

func (plan) Nodes(a scheduler.Action) error {
	return fmt.Errorf("%T: a Slurm backend neither rents nor lends nodes", a)
}

func (p plan) Run(a *scheduler.Run) error {
	e, err := p.b.Get(a.Job)
	if err != nil || e.Over || e.Lost {
		return err
	}
	if e.planned.batch = a.Batch; e.wants() && a.InPlace(e.planned.allocation, e.planned.placement) {
		return nil
	}
	e.planned = grant{a.Allocation, a.Placement, e.planned.generation + 1, a.Batch, time.Now()}
	if !isEven(a.Placement) {
		p.b.fail(e, "Slurm needs the same number of GPUs on each node of a job; the plan has different numbers")
	}
	return nil
}
