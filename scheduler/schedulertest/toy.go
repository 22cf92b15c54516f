package schedulertest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Epoch is the time at which a Toy begins.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	toyReport  = 30 * time.Second // between reports
	toyProfile = time.Minute
)

// A ToyJob is one job of the backend Toy.
type ToyJob struct {
	Spec *job.Spec
	At   time.Duration // time of its submission, from Epoch
	Work time.Duration // total GPU time
	// LostAt, if positive, is the time at which a failure takes its GPUs, if it holds any.
	LostAt time.Duration
}

// A Toy is a minimal backend for tests. Each job needs a given GPU time, starts at once, is twice as fast on twice the
// GPUs, and loses no work.
type Toy struct {
	// Thinking is the duration of background work. Set it before the first call of Next.
	Thinking time.Duration

	now      time.Time
	nodes    *toyNodes // nil: none can be rented
	jobs     []*toyJob
	ready    []scheduler.Event
	work     policy.Work
	computed time.Time
}

type toyJob struct {
	ToyJob
	all        time.Duration // Work at the start
	come, over bool
	alloc      cluster.Allocation
	on         cluster.Placement
	settled    time.Time // time of the last update of Work
	report     time.Time
	profiled   time.Time // end of profiling; zero: there is none
}

// NewToy returns a Toy with these jobs. Events at the same time come in the order of the jobs.
func NewToy(jobs []ToyJob) *Toy {
	w := &Toy{now: Epoch}
	for _, j := range jobs {
		w.jobs = append(w.jobs, &toyJob{ToyJob: j, all: j.Work})
	}
	return w
}

// Now implements scheduler.Backend.
func (w *Toy) Now() time.Time { return w.now }

// Next implements scheduler.Backend.
func (w *Toy) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for len(w.ready) == 0 {
		at, pending, left := w.next()
		if left == 0 {
			return nil, io.EOF
		}
		if !pending || at.After(deadline) {
			w.now = deadline
			return nil, nil
		}
		w.now = at
		for _, j := range w.jobs {
			w.happen(j)
		}
		w.compute(ctx)
		if w.nodes != nil {
			w.nodes.come()
		}
	}
	ev := w.ready[0]
	w.ready = w.ready[1:]
	return ev, nil
}

func (w *Toy) next() (at time.Time, pending bool, left int) {
	for _, j := range w.jobs {
		if j.over {
			continue
		}
		left++
		if t, ok := j.next(); ok && (!pending || t.Before(at)) {
			at, pending = t, true
		}
	}
	if w.work != nil && (!pending || w.computed.Before(at)) {
		at, pending = w.computed, true
	}
	if w.nodes != nil {
		if t, ok := w.nodes.next(); ok && (!pending || t.Before(at)) {
			at, pending = t, true
		}
	}
	return at, pending, left
}

func (j *toyJob) next() (time.Time, bool) {
	switch {
	case !j.come:
		return Epoch.Add(j.At), true
	case !j.profiled.IsZero():
		return j.profiled, true
	case j.alloc.GPUs == 0:
		return time.Time{}, false
	}
	at := j.report
	for _, t := range []time.Time{j.done(), j.lost()} {
		if t.Before(at) {
			at = t
		}
	}
	return at, true
}

func (j *toyJob) done() time.Time {
	n := time.Duration(j.alloc.GPUs)
	return j.settled.Add((j.Work + n - 1) / n)
}

func (j *toyJob) lost() time.Time {
	if at := Epoch.Add(j.LostAt); j.LostAt > 0 && !at.Before(j.settled) {
		return at
	}
	return j.done()
}

func (w *Toy) happen(j *toyJob) {
	if at, ok := j.next(); j.over || !ok || at.After(w.now) {
		return
	}
	switch {
	case !j.come:
		j.come = true
		w.ready = append(w.ready, scheduler.Submitted{Spec: j.Spec})
		return
	case !j.profiled.IsZero():
		j.profiled = time.Time{}
		w.ready = append(w.ready, scheduler.Profiled{Job: j.Spec.ID})
		return
	}
	strikes := j.LostAt > 0 && j.lost().Equal(w.now) && w.now.Before(j.done())
	w.settle(j)
	switch {
	case j.Work <= 0:
		j.over, j.on = true, nil
		w.ready = append(w.ready, scheduler.Exited{Job: j.Spec.ID, Outcome: scheduler.Done})
	case strikes:
		j.alloc, j.on, j.LostAt = cluster.Allocation{}, nil, 0
		w.ready = append(w.ready, scheduler.Exited{Job: j.Spec.ID, Outcome: scheduler.Lost, Detail: "its node failed"})
	default:
		j.report = w.now.Add(toyReport)
		w.ready = append(w.ready, scheduler.Reported{Report: job.Report{
			Job: j.Spec.ID, Interval: toyReport, Configuration: j.alloc.Configuration,
			Batch: job.BatchSize{Local: 8}, StepTime: time.Second, Progress: (j.all - j.Work).Seconds(),
		}})
	}
}

func (w *Toy) compute(ctx context.Context) {
	if w.work != nil && !w.computed.After(w.now) {
		w.ready = append(w.ready, scheduler.Computed{Result: w.work.Do(ctx)})
		w.work = nil
	}
}

func (w *Toy) settle(j *toyJob) {
	j.Work -= time.Duration(j.alloc.GPUs) * w.now.Sub(j.settled)
	j.settled = w.now
}

// Do implements scheduler.Backend.
func (w *Toy) Do(ctx context.Context, actions []scheduler.Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, a := range actions {
		if err := w.do(a); err != nil {
			return err
		}
	}
	return nil
}

func (w *Toy) do(a scheduler.Action) error {
	switch a := a.(type) {
	case scheduler.Run:
		return w.grant(a.Job, a.Allocation, a.Placement)
	case scheduler.Preempt:
		return w.grant(a.Job, cluster.Allocation{}, nil)
	case scheduler.Profile:
		j, err := w.find(a.Job)
		if err == nil {
			j.profiled = w.now.Add(toyProfile)
		}
		return err
	case scheduler.Compute:
		w.work, w.computed = a.Work, w.now.Add(w.Thinking)
		return nil
	case scheduler.Provision:
		if w.nodes != nil {
			return w.nodes.Provision(a.Group, a.Nodes)
		}
	case scheduler.Return:
		if w.nodes != nil {
			return w.nodes.Return(a.Nodes)
		}
	}
	return fmt.Errorf("toy: action %T %+v: want another", a, a)
}

func (w *Toy) grant(id job.ID, a cluster.Allocation, on cluster.Placement) error {
	j, err := w.find(id)
	if err != nil {
		return err
	}
	w.settle(j)
	j.alloc, j.on, j.report = a, on, w.now.Add(toyReport)
	return nil
}

func (w *Toy) find(id job.ID) (*toyJob, error) {
	for _, j := range w.jobs {
		if j.Spec.ID == id && j.come && !j.over {
			return j, nil
		}
	}
	return nil, fmt.Errorf("toy: job %s: not here", id)
}
