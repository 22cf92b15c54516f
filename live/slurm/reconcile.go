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

// How the scheduler hears of a job that waits and that it does not know.
type arrival bool

const (
	submitted arrival = false
	restored  arrival = true // it was there before the scheduler
)

// reconcile tells the scheduler what differs from what it knows.
func (b *Backend) reconcile(o *Observation, as arrival) {
	there := map[client.ID]bool{}
	for i := range o.Jobs {
		j := &o.Jobs[i]
		there[j.ID] = true
		switch e := b.numbers[j.ID]; {
		case e != nil && !j.Elastic():
			b.conclude(e, scheduler.Cancelled, "it takes no part any more: "+j.Trouble)
		case e != nil && another(e, j):
			b.conclude(e, scheduler.Cancelled, "Slurm does not know it any more: its number is another job's")
		case e != nil:
			b.update(o, e, j)
		case j.Elastic():
			b.enter(o, j, as)
		}
	}
	for i := range o.Ended {
		if e := b.numbers[o.Ended[i].ID]; e != nil {
			there[o.Ended[i].ID] = true
			b.over(e, &o.Ended[i])
		}
	}
	for _, e := range b.Order {
		if !there[e.seen.ID] {
			b.conclude(e, scheduler.Cancelled, "Slurm does not know it any more")
		}
	}
	b.takeNodes(o)
	b.takeTokens()
	b.o.Writer.Forget(func(id client.ID) bool { return there[id] })
}

// another reports whether a job is not the one that had its number, as of a Slurm that lost its state. Of what Slurm
// says, only the token tells: starts and times of one job go back where slurmctld is killed and reads an older state.
func another(e *entry, j *Job) bool { return j.Token != e.seen.Token }

// enter adds a job. One that waits is not known before the scheduler holds it: until then Slurm may start
// it. One that an earlier scheduler has begun to stop waits already.
func (b *Backend) enter(o *Observation, j *Job, as arrival) {
	runs, stops := j.Running() && !j.Mark.Stopping, j.Running() && j.Mark.Stopping
	if waits := j.Waits() && j.Kept() && j.Mark.Held; !runs && !stops && !waits {
		return
	}
	e := &entry{seen: *j}
	e.ID = JobID(j.ID)
	if b.entered[j.ID]++; b.entered[j.ID] > 1 {
		e.ID = job.ID(fmt.Sprintf("%s~%d", e.ID, b.entered[j.ID]))
	}
	e.asked = e.asks(j)
	b.recall(e)
	e.spec = e.described()
	b.numbers[j.ID] = e
	b.Add(e)
	e.held.generation = max(j.Restarts, j.Mark.Generation)
	status := j.Status(o.At)
	status.Progress, status.Epoch = e.program.Progress, e.program.Epoch
	switch {
	case runs:
		e.held.allocation, e.held.placement, e.trains = status.Allocation, status.Placement, e.held.generation
		e.up = time.Now()
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

// justStarted bounds how long ago, by Slurm's clock, a job was started that counts as starting when it is first seen. One that has run for longer
// only begins to take part now: what its program says next says nothing of its start.
const justStarted = 30 * time.Second

// begins notes that a job was started just now, and not by a plan, and returns its phase.
func (b *Backend) begins(e *entry, as arrival) job.Phase {
	if as == submitted {
		e.held.since = e.up
	}
	if e.greets = b.awaits(e); e.greets {
		return job.Restoring
	}
	return job.Running
}

// update takes over what was observed of a job.
func (b *Backend) update(o *Observation, e *entry, j *Job) {
	if e.Over {
		return
	}
	back := e.look(j)
	if e.kept = j.Waits() && j.Kept() && !j.Mark.Held; e.kept && e.wants() {
		b.lose(e, "somebody else holds it: "+j.Reason)
	}
	switch {
	case back:
		b.older(e)
	case !e.wants():
	case j.Running() && j.Placement.SameGPUs(e.held.placement) && !j.Mark.Stopping:
		b.runs(e)
	case j.Waits() && e.trains == e.held.generation:
		b.lose(e, "it was requeued, and not by the scheduler: "+j.Reason)
	case j.Waits() && !j.Kept() && !e.freed.IsZero() && o.At.Sub(e.freed) > b.o.Start:
		b.fail(e, fmt.Sprintf("Slurm has not started it for %v: %s", b.o.Start, j.Reason))
	}
	b.describe(e)
}

// look stores what was observed of a job. It reports whether the job waits although it ran, and was never requeued.
func (e *entry) look(j *Job) (back bool) {
	back = e.seen.Running() && j.Waits() && j.Restarts <= e.seen.Restarts
	if e.seen = *j; j.Waits() {
		e.noticed = time.Time{}
	}
	if asked := e.asks(j); !same(asked, e.asked) {
		e.asked = asked
	}
	return back
}

// older handles that a job waits and was never requeued: slurmctld was killed, and has read a state from before the start. Nodes may still run it,
// until slurmctld hears of that and ends it; one that is told to start it before is drained by Slurm, "Duplicate jobid". Source: observed, Slurm 22.05.
func (b *Backend) older(e *entry) {
	const why = "slurmctld has read a state from before its start"
	if e.wants() {
		b.fail(e, why)
		return
	}
	e.NotBefore, e.why = time.Now().Add(backoff), why
}

// runs tells the scheduler, once for each start, that a job trains: if its program will say hello, when it does.
func (b *Backend) runs(e *entry) {
	if e.trains == e.held.generation {
		return
	}
	e.trains, e.failures, e.why, e.freed, e.noticed = e.held.generation, 0, "", time.Time{}, time.Time{}
	e.up, e.Heard, e.Silent = time.Now(), time.Time{}, false
	if e.greets = b.awaits(e); !e.greets {
		b.Events.Emit(scheduler.Reported{Report: e.resumed()})
	}
}

// awaits reports whether the program of a job is to say hello, and has not since its start.
func (b *Backend) awaits(e *entry) bool {
	return b.o.Agents != "" && e.seen.Token != "" && (e.program.Hello == nil || e.program.Hello.Generation != e.seen.Restarts+1)
}

// over tells the scheduler how a job ended.
func (b *Backend) over(e *entry, j *Job) {
	switch j.State {
	case client.Completed:
		b.conclude(e, scheduler.Done, "")
	case client.Cancelled:
		b.conclude(e, scheduler.Cancelled, "cancelled in Slurm")
	default:
		b.conclude(e, scheduler.Failed, strings.TrimSpace(fmt.Sprintf("%s, exit status %d", j.State, j.ExitCode)))
	}
}

// forget removes a job of whose end the scheduler has heard.
func (b *Backend) forget(e *entry) {
	delete(b.numbers, e.seen.ID)
	b.Remove(e)
	if err := b.o.Reports.Drop(e.key()); err != nil {
		b.o.Log.Warn("what a job said that has ended is still kept", "err", err)
	}
}

// takeNodes tells the scheduler which nodes there are now.
func (b *Backend) takeNodes(o *Observation) {
	nodes := o.Shared()
	c, err := cluster.New(nodes)
	if err != nil {
		return
	}
	changed := !reflect.DeepEqual(c.Nodes(), b.cluster.Nodes())
	for i := range nodes {
		if _, known := b.first.Type(nodes[i].GPUType); changed && !known {
			b.End(ErrTypes)
			return
		}
	}
	if b.fit(nodes); changed {
		b.cluster = c
		b.Events.Emit(scheduler.NodesChanged{Cluster: c})
	}
}

// fit has jobs lose what is planned for them and not there: nodes have fewer GPUs now, or Slurm has started a job there before
// the scheduler held it. Those that run as planned come first, and then those that came first.
func (b *Backend) fit(nodes []cluster.Node) {
	left := map[cluster.NodeID]int{}
	for i := range nodes {
		left[nodes[i].ID] = nodes[i].Capacity.GPUs
	}
	for _, runs := range []bool{true, false} {
		for _, e := range b.Order {
			if e.wants() && (e.trains == e.held.generation) == runs && !take(left, e.held.placement) {
				b.lose(e, "its nodes have fewer GPUs left than were planned")
			}
		}
	}
}

// same reports whether two specifications are alike.
func same(a, b *job.Spec) bool { return reflect.DeepEqual(a, b) }
