package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A toy is a Backend in memory: all that a new backend has to write. Its jobs train one sample a
// second on each GPU, report every ten seconds, and end at their target.
type toy struct {
	*Table[*toyEntry]
	nodes *cluster.Cluster
}

type toyEntry struct {
	Entry
	target           float64
	planned, running *scheduler.Run // nil: nothing
	done             float64        // samples
}

// newToy returns a backend to which jobs are submitted now.
func newToy(nodes *cluster.Cluster, jobs ...*job.Spec) *toy {
	return newToyAt(NewQueue(), nodes, jobs...)
}

// newToyAt is newToy with a queue of events, which has the clock.
func newToyAt(queue *Queue, nodes *cluster.Cluster, jobs ...*job.Spec) *toy {
	t := &toy{nodes: nodes}
	t.Table = NewTable(queue, func(*toyEntry) {}, func(*toyEntry) {})
	for _, j := range jobs {
		t.submit(j)
	}
	return t
}

func (t *toy) submit(j *job.Spec) {
	t.Add(&toyEntry{Entry: Entry{ID: j.ID}, target: j.Target})
	t.Events.Emit(scheduler.Submitted{Spec: j})
}

// Cluster implements Backend.
func (t *toy) Cluster() *cluster.Cluster { return t.nodes }

// Do implements scheduler.Backend: it commits what is planned.
func (t *toy) Do(ctx context.Context, actions []scheduler.Action) error {
	t.Lock()
	defer t.Unlock()
	return t.Apply(ctx, actions, t)
}

// Preempt implements Draft.
func (t *toy) Preempt(a scheduler.Preempt) error { t.ByID[a.Job].planned = nil; return nil }

// Run implements Draft.
func (t *toy) Run(a *scheduler.Run) error { t.ByID[a.Job].planned = a; return nil }

// Nodes implements Draft.
func (t *toy) Nodes(a scheduler.Action) error { return fmt.Errorf("%T: no such nodes", a) }

// Execute implements Backend: every ten seconds it observes, starts and stops.
func (t *toy) Execute(ctx context.Context) error {
	return t.Repeat(ctx, 10*time.Second, func() {
		t.Lock()
		defer t.Unlock()
		for _, e := range t.Order {
			t.observe(e)
			e.running = e.planned
		}
	})
}

// observe reports what a running job did in the last ten seconds.
func (t *toy) observe(e *toyEntry) {
	if e.running == nil {
		return
	}
	if e.done += 10 * float64(e.running.Allocation.GPUs); e.done >= e.target {
		e.planned = nil
		t.Conclude(e, scheduler.Done, "")
		return
	}
	t.Events.Emit(scheduler.Reported{Report: job.Report{
		Job: e.ID, Interval: 10 * time.Second, Configuration: e.running.Allocation.Configuration, Batch: job.BatchSize{Local: 1},
		StepTime: time.Second, Progress: e.done,
	}})
}
