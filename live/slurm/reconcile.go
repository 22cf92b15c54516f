package slurm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/observe"
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
func (w *World) reconcile(o *observe.Observation, as arrival) {
	there := map[client.ID]bool{}
	for i := range o.Jobs {
		j := &o.Jobs[i]
		there[j.ID] = true
		switch e := w.numbers[j.ID]; {
		case e != nil && !j.Elastic():
			w.conclude(e, scheduler.Cancelled, "it takes no part any more: "+j.Trouble)
		case e != nil && another(e, j):
			w.conclude(e, scheduler.Cancelled, "Slurm does not know it any more: its number is another job's")
		case e != nil:
			w.update(o, e, j)
		case j.Elastic():
			w.enter(o, j, as)
		}
	}
	for i := range o.Ended {
		if e := w.numbers[o.Ended[i].ID]; e != nil {
			there[o.Ended[i].ID] = true
			w.over(e, &o.Ended[i])
		}
	}
	for _, e := range w.Order {
		if !there[e.seen.ID] {
			w.conclude(e, scheduler.Cancelled, "Slurm does not know it any more")
		}
	}
	w.takeNodes(o)
	w.takeTokens()
	w.o.Writer.Forget(func(id client.ID) bool { return there[id] })
}

// another reports whether a job is not the one that had its number, as of a Slurm that lost its state. Of what Slurm
// says, only the token tells: starts and times of one job go back where slurmctld is killed and reads an older state.
func another(e *entry, j *observe.Job) bool { return j.Token != e.seen.Token }

// enter adds a job. One that waits is not known before the scheduler holds it: until then Slurm may start
// it. One that an earlier scheduler has begun to stop waits already.
func (w *World) enter(o *observe.Observation, j *observe.Job, as arrival) {
	runs, stops := j.Running() && !j.Mark.Stopping, j.Running() && j.Mark.Stopping
	if waits := j.Waits() && j.Kept() && j.Mark.Held; !runs && !stops && !waits {
		return
	}
	e := &entry{seen: *j}
	e.ID = observe.JobID(j.ID)
	if w.entered[j.ID]++; w.entered[j.ID] > 1 {
		e.ID = job.ID(fmt.Sprintf("%s~%d", e.ID, w.entered[j.ID]))
	}
	e.asked = e.asks(j)
	w.recall(e)
	e.spec = e.described()
	w.numbers[j.ID] = e
	w.Add(e)
	e.held.generation = max(j.Restarts, j.Mark.Generation)
	status := j.Status(o.At)
	status.Progress, status.Epoch = e.said.Progress, e.said.Epoch
	switch {
	case runs:
		e.held.allocation, e.held.placement, e.trains = status.Allocation, status.Placement, e.held.generation
		e.up = time.Now()
		if o.At.Sub(j.Start) < justStarted {
			status.Phase = w.begins(e, as)
		}
	case stops:
		status.Phase, status.Allocation, status.Placement = job.Waiting, cluster.Allocation{}, nil
	case as == submitted:
		w.Events.Emit(scheduler.Submitted{Spec: e.spec})
		return
	}
	w.Events.Emit(scheduler.Restored{Spec: e.spec, Status: status})
}

// justStarted bounds how long ago, by Slurm's clock, a job was started that counts as starting when it is first seen. One that has run for longer
// only begins to take part now: what its program says next says nothing of its start.
const justStarted = 30 * time.Second

// begins notes that a job was started just now, and not by a plan, and returns its phase.
func (w *World) begins(e *entry, as arrival) job.Phase {
	if as == submitted {
		e.held.since = e.up
	}
	if e.greets = w.awaits(e); e.greets {
		return job.Restoring
	}
	return job.Running
}

// update takes over what was observed of a job.
func (w *World) update(o *observe.Observation, e *entry, j *observe.Job) {
	if e.Over {
		return
	}
	back := e.seen.Running() && j.Waits() && j.Restarts <= e.seen.Restarts
	if e.seen = *j; j.Waits() {
		e.noticed = time.Time{}
	}
	if asked := e.asks(j); !same(asked, e.asked) {
		e.asked = asked
	}
	if e.kept = j.Waits() && j.Kept() && !j.Mark.Held; e.kept && e.wants() {
		w.lose(e, "somebody else holds it: "+j.Reason)
	}
	switch {
	case back:
		w.older(e)
	case !e.wants():
	case j.Running() && j.Placement.SameGPUs(e.held.placement) && !j.Mark.Stopping:
		w.runs(e)
	case j.Waits() && e.trains == e.held.generation:
		w.lose(e, "it was requeued, and not by the scheduler: "+j.Reason)
	case j.Waits() && !j.Kept() && !e.freed.IsZero() && o.At.Sub(e.freed) > w.o.Start:
		w.fail(e, fmt.Sprintf("Slurm has not started it for %v: %s", w.o.Start, j.Reason))
	}
	w.describe(e)
}

// older handles that a job waits and was never requeued: slurmctld was killed, and has read a state from before the start. Nodes may still run it,
// until slurmctld hears of that and ends it; one that is told to start it before is drained by Slurm, "Duplicate jobid". Source: observed, Slurm 22.05.
func (w *World) older(e *entry) {
	const why = "slurmctld has read a state from before its start"
	if e.wants() {
		w.fail(e, why)
		return
	}
	e.NotBefore, e.why = time.Now().Add(backoff), why
}

// runs tells the scheduler, once for each start, that a job trains: if its program will say hello, when it does.
func (w *World) runs(e *entry) {
	if e.trains == e.held.generation {
		return
	}
	e.trains, e.failures, e.why, e.freed, e.noticed = e.held.generation, 0, "", time.Time{}, time.Time{}
	e.up, e.Heard, e.Silent = time.Now(), time.Time{}, false
	if e.greets = w.awaits(e); !e.greets {
		w.Events.Emit(scheduler.Reported{Report: e.resumed()})
	}
}

// awaits reports whether the program of a job is to say hello, and has not since its start.
func (w *World) awaits(e *entry) bool {
	return w.o.Agents != "" && e.seen.Token != "" && (e.said.Hello == nil || e.said.Hello.Generation != e.seen.Restarts+1)
}

// over tells the scheduler how a job ended.
func (w *World) over(e *entry, j *observe.Job) {
	switch j.State {
	case client.Completed:
		w.conclude(e, scheduler.Done, "")
	case client.Cancelled:
		w.conclude(e, scheduler.Cancelled, "cancelled in Slurm")
	default:
		w.conclude(e, scheduler.Failed, strings.TrimSpace(fmt.Sprintf("%s, exit status %d", j.State, j.ExitCode)))
	}
}

// forget removes a job of whose end the scheduler has heard.
func (w *World) forget(e *entry) {
	delete(w.numbers, e.seen.ID)
	w.Remove(e)
	if err := w.o.Said.Drop(e.key()); err != nil {
		w.o.Log.Warn("what a job said that has ended is still kept", "err", err)
	}
}

// takeNodes tells the scheduler which nodes there are now.
func (w *World) takeNodes(o *observe.Observation) {
	nodes := o.Shared()
	c, err := cluster.New(nodes)
	if err != nil {
		return
	}
	changed := !reflect.DeepEqual(c.Nodes(), w.cluster.Nodes())
	for i := range nodes {
		if _, known := w.first.Type(nodes[i].GPUType); changed && !known {
			w.End(ErrTypes)
			return
		}
	}
	if w.fit(nodes); changed {
		w.cluster = c
		w.Events.Emit(scheduler.NodesChanged{Cluster: c})
	}
}

// fit has jobs lose what is planned for them and not there: nodes have fewer GPUs now, or Slurm has started a job there before
// the scheduler held it. Those that run as planned come first, and then those that came first.
func (w *World) fit(nodes []cluster.Node) {
	left := map[cluster.NodeID]int{}
	for i := range nodes {
		left[nodes[i].ID] = nodes[i].Capacity.GPUs
	}
	for _, runs := range []bool{true, false} {
		for _, e := range w.Order {
			if e.wants() && (e.trains == e.held.generation) == runs && !take(left, e.held.placement) {
				w.lose(e, "its nodes have fewer GPUs left than were planned")
			}
		}
	}
}

// take takes the GPUs of a placement, if all are there.
func take(left map[cluster.NodeID]int, p cluster.Placement) bool {
	if slices.ContainsFunc(p, func(s cluster.Share) bool { return left[s.Node] < s.GPUs }) {
		return false
	}
	for _, s := range p {
		left[s.Node] -= s.GPUs
	}
	return true
}

// same reports whether two specifications are alike.
func same(a, b *job.Spec) bool { return reflect.DeepEqual(a, b) }
