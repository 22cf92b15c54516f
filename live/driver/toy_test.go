package driver

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A toy is a World in memory: all that a new kind of world has to write. Its jobs train one
// sample a second on each GPU, report every ten seconds, and end at their target.
type toy struct {
	nodes *cluster.Cluster

	mu      sync.Mutex
	queue   *Queue
	planned map[job.ID]scheduler.Run
	running map[job.ID]scheduler.Run
	specs   map[job.ID]*job.Spec
	done    map[job.ID]float64 // samples
}

// newToy returns a world to which jobs are submitted now.
func newToy(nodes *cluster.Cluster, jobs ...*job.Spec) *toy {
	return newToyAt(NewQueue(), nodes, jobs...)
}

// newToyAt is newToy with a queue of events, which has the clock.
func newToyAt(queue *Queue, nodes *cluster.Cluster, jobs ...*job.Spec) *toy {
	t := &toy{
		nodes: nodes, queue: queue, planned: map[job.ID]scheduler.Run{}, running: map[job.ID]scheduler.Run{},
		specs: map[job.ID]*job.Spec{}, done: map[job.ID]float64{},
	}
	for _, j := range jobs {
		t.specs[j.ID] = j
		t.queue.Emit(scheduler.Submitted{Spec: j})
	}
	return t
}

// Cluster implements World.
func (t *toy) Cluster() *cluster.Cluster { return t.nodes }

// Follow implements World: the toy stores no plans, so it need not know the scheduler's jobs.
func (t *toy) Follow(round time.Duration, _ func(time.Time) []*policy.Job) { t.queue.Round = round }

// Event implements scheduler.Observer.
func (t *toy) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer.
func (t *toy) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

// Now implements scheduler.Backend.
func (t *toy) Now() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queue.Now()
}

// ClockMoved implements World.
func (t *toy) ClockMoved() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queue.ClockMoved()
}

// Next implements scheduler.Backend.
func (t *toy) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	return Wait(ctx, t.queue.Woken(), func() (scheduler.Event, time.Duration, error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if ev := t.queue.Take(deadline); ev != nil {
			return ev, 0, nil
		}
		return nil, t.queue.Pass(deadline), nil
	})
}

// Do implements scheduler.Backend: it commits what is planned.
func (t *toy) Do(_ context.Context, actions []scheduler.Action) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range actions {
		switch a := a.(type) {
		case scheduler.Preempt:
			delete(t.planned, a.Job)
		case scheduler.Run:
			t.planned[a.Job] = a
		}
	}
	return nil
}

// Execute implements World.
func (t *toy) Execute(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			t.mu.Lock()
			t.observe()
			t.running = maps.Clone(t.planned)
			t.mu.Unlock()
		}
	}
}

// observe reports what the running jobs did in the last ten seconds.
func (t *toy) observe() {
	for id, r := range t.running {
		t.done[id] += 10 * float64(r.Allocation.GPUs)
		if t.done[id] >= t.specs[id].Target {
			delete(t.planned, id)
			t.queue.Emit(scheduler.Exited{Job: id, Outcome: scheduler.Done})
			continue
		}
		t.queue.Emit(scheduler.Reported{Report: job.Report{
			Job: id, Interval: 10 * time.Second, Configuration: r.Allocation.Configuration, Batch: job.BatchSize{Local: 1},
			StepTime: time.Second, Progress: t.done[id],
		}})
	}
}
