package slurm

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

type arrival bool

const (
	submitted arrival = false
	restored  arrival = true
)

func (b *Backend) reconcile(o *Observation, as arrival) {
	there := map[client.ID]bool{}
	for i := range o.Jobs {
		j := &o.Jobs[i]
		there[j.ID] = true
		switch e := b.numbers[j.ID]; {
		case e != nil && !j.elastic():
			b.conclude(e, scheduler.Cancelled, "it no longer takes part: "+j.Trouble)
		case e != nil && differentJob(e, j):
			b.conclude(e, scheduler.Cancelled, "Slurm lost it: another job has its number")
		case e != nil:
			b.update(o, e, j)
		case j.elastic():
			b.enter(o, j, as)
		}
	}
	for i := range o.Ended {
		if e := b.numbers[o.Ended[i].ID]; e != nil {
			there[o.Ended[i].ID] = true
			b.ended(e, &o.Ended[i])
		}
	}
	for _, e := range b.Order {
		if !there[e.observed.ID] {
			b.conclude(e, scheduler.Cancelled, "Slurm no longer knows it")
		}
	}
	b.updateNodes(o)
	b.updateTokens()
	b.o.Writer.Forget(func(id client.ID) bool { return there[id] })
}

// differentJob reports whether Slurm lost its state and reused the number. Starts and times can go back when a
// killed slurmctld reads an older state.
func differentJob(e *entry, j *Job) bool { return j.Token != e.observed.Token }

// enter adds a job. A waiting job is added only once the scheduler holds it, because Slurm could start it before.
func (b *Backend) enter(o *Observation, j *Job, as arrival) {
	runs, stops := j.running() && !j.Mark.Stopping, j.running() && j.Mark.Stopping
	if waits := j.Waits() && j.IsHeld() && j.Mark.Held; !runs && !stops && !waits {
		return
	}
	e := &entry{observed: *j}
	e.ID = jobID(j.ID)
	if b.entered[j.ID]++; b.entered[j.ID] > 1 {
		e.ID = job.ID(fmt.Sprintf("%s~%d", e.ID, b.entered[j.ID]))
	}
	e.request = e.currentRequest(j)
	b.recall(e)
	e.spec = e.described()
	b.numbers[j.ID] = e
	b.Add(e)
	e.planned.generation = max(j.Restarts, j.Mark.Generation)
	status := j.Status(o.At)
	status.Progress, status.Epoch = e.program.Progress, e.program.Epoch
	switch {
	case runs:
		e.planned.allocation, e.planned.placement, e.running = status.Allocation, status.Placement, e.planned.generation
		e.runningSince = time.Now()
		if o.At.Sub(j.Start) < justStarted {
			status.Phase = b.begins(e, as)
		}
	case stops:
		status.Phase, status.Allocation, status.Placement = job.Waiting, cluster.Allocation{}, nil
	case as == submitted:
		b.Events.Emit(scheduler.Submitted{Spec: e.spec})
		return
	}
	b.Events.Emit(scheduler.Restored{Spec: e.spec, Status: status})
}

// justStarted is the age up to which a new job counts as starting. An older job has only just opted in, so its
// next message says nothing about its start.
const justStarted = 30 * time.Second

func (b *Backend) begins(e *entry, as arrival) job.Phase {
	if as == submitted {
		e.planned.since = e.runningSince
	}
	if e.awaitsHello = b.expectsHello(e); e.awaitsHello {
		return job.Restoring
	}
	return job.Running
}

func (b *Backend) update(o *Observation, e *entry, j *Job) {
	if e.Over {
		return
	}
	back := e.look(j)
	if e.heldByOther = j.Waits() && j.IsHeld() && !j.Mark.Held; e.heldByOther && e.wants() {
		b.lose(e, "held by somebody else: "+j.Reason)
	}
	switch {
	case back:
		b.oldState(e)
	case !e.wants():
	case j.running() && j.Placement.SameGPUs(e.planned.placement) && !j.Mark.Stopping:
		b.started(e)
	case j.Waits() && e.running == e.planned.generation:
		b.lose(e, "requeued by somebody else: "+j.Reason)
	case j.Waits() && !j.IsHeld() && !e.released.IsZero() && o.At.Sub(e.released) > b.o.Start:
		b.fail(e, fmt.Sprintf("Slurm did not start it within %v: %s", b.o.Start, j.Reason))
	}
	b.describe(e)
}

func (e *entry) look(j *Job) (back bool) {
	back = e.observed.running() && j.Waits() && j.Restarts <= e.observed.Restarts
	if e.observed = *j; j.Waits() {
		e.noticed = time.Time{}
	}
	if asked := e.currentRequest(j); !same(asked, e.request) {
		e.request = asked
	}
	return back
}

// oldState handles a job that waits without a requeue: a killed slurmctld read an old state. Source:
// observed, Slurm 22.05.
func (b *Backend) oldState(e *entry) {
	if e.wants() {
		b.fail(e, "slurmctld restarted with a state from before the job's start")
		return
	}
	e.notBefore = time.Now().Add(backoff)
}

func (b *Backend) started(e *entry) {
	if e.running == e.planned.generation {
		return
	}
	e.running, e.failures, e.released, e.noticed = e.planned.generation, 0, time.Time{}, time.Time{}
	e.runningSince, e.Heard, e.Silent = time.Now(), time.Time{}, false
	if e.awaitsHello = b.expectsHello(e); !e.awaitsHello {
		b.Events.Emit(scheduler.Reported{Report: e.resumed()})
	}
}

func (b *Backend) expectsHello(e *entry) bool {
	return b.o.Agents != "" && e.observed.Token != "" && (e.program.Hello == nil || e.program.Hello.Generation != e.observed.Restarts+1)
}

func (b *Backend) ended(e *entry, j *Job) {
	switch j.State {
	case client.Completed:
		b.conclude(e, scheduler.Done, "")
	case client.Cancelled:
		b.conclude(e, scheduler.Cancelled, "cancelled in Slurm")
	default:
		b.conclude(e, scheduler.Failed, strings.TrimSpace(fmt.Sprintf("%s, exit status %d", j.State, j.ExitCode)))
	}
}

func (b *Backend) forget(e *entry) {
	delete(b.numbers, e.observed.ID)
	b.Remove(e)
	if err := b.o.Reports.drop(e.key()); err != nil {
		b.o.Log.Warn("cannot remove the stored messages of an ended job", "err", err)
	}
}

func (b *Backend) updateNodes(o *Observation) {
	nodes := o.shared()
	c, err := cluster.New(nodes)
	if err != nil {
		return
	}
	changed := !reflect.DeepEqual(c.Nodes(), b.cluster.Nodes())
	for i := range nodes {
		if _, known := b.first.Type(nodes[i].GPUType); changed && !known {
			b.End(errTypes)
			return
		}
	}
	if b.fit(nodes); changed {
		b.cluster = c
		b.Events.Emit(scheduler.NodesChanged{Cluster: c})
	}
}

// fit removes planned GPUs that nodes no longer have or that Slurm gave to another job. Jobs that run as planned keep
// their GPUs first, then the oldest jobs.
func (b *Backend) fit(nodes []cluster.Node) {
	left := map[cluster.NodeID]int{}
	for i := range nodes {
		left[nodes[i].ID] = nodes[i].Capacity.GPUs
	}
	for _, runs := range []bool{true, false} {
		for _, e := range b.Order {
			if e.wants() && (e.running == e.planned.generation) == runs && !take(left, e.planned.placement) {
				b.lose(e, "its nodes have fewer free GPUs than planned")
			}
		}
	}
}

func same(a, b *job.Spec) bool { return reflect.DeepEqual(a, b) }
