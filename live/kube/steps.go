package kube

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/pods"
)

// A step brings the cluster closer to the plan.
type step struct {
	e    *entry
	what string // for people
	do   func(context.Context) error
}

// steps returns what can be done now, at most one step for each job: everything that has to
// stop, every start whose nodes have room, by submission, and what running pods are to ask for.
func (w *World) steps(s *sight) []step {
	if !w.o.acts() {
		return nil
	}
	var all []step
	r := w.room(s)
	f := w.fits(s, r)
	for _, e := range w.order {
		st := w.step(e, r)
		if st == nil {
			st = w.fitting(e, f[e])
		}
		if st != nil {
			all = append(all, *st)
		}
	}
	return all
}

// step returns what is next for a job; nil: nothing, now.
func (w *World) step(e *entry, r room) *step {
	now := time.Now()
	waits := now.Before(e.notBefore)
	leftover := slices.ContainsFunc(e.live(), func(p *corev1.Pod) bool { return !e.present(p) })
	if e.stale {
		return nil
	}
	if !waits {
		e.trouble = "" // the step is tried now, or is none any more
	}
	switch {
	case e.trouble != "":
		return nil
	case e.running() && !e.ended && (!e.wants() || e.job.Generation != e.held.generation):
		if e.ends(now) {
			return nil
		}
		return w.stopping(e) // at once: others may wait for what a job that was lost is on
	case e.late != nil && !e.ended && !e.started():
		return w.fencing(e)
	case waits:
		return nil
	case !e.wants() || leftover || e.job.Stopping:
		return nil
	case !e.started():
		if !r.takes(e) {
			return nil
		}
		return w.starting(e)
	case e.lacks(now):
		return w.asking(e)
	case e.job.Kueue && e.job.Suspended && e.back != e.held.generation:
		return w.returning(e)
	case e.running() && e.job.Workers != e.workers() && e.done() == 0: // else it is over for all of them
		if e.job.Workers < e.workers() && !r.free(e) {
			return nil
		}
		return w.resizing(e)
	case !r.free(e): // a leader before it may have sent somebody there after it was started
		return nil
	}
	return w.pinning(e)
}

// room is how many GPUs each node has for what is planned: all that it has, less those of
// pods that are to be gone and are not, or may yet come, and of jobs that were started, or may
// be by a write of a leader before. It is less than nothing where a job that was started is to
// grow to, and pods of others are not gone.
type room map[string]int

// room returns what the nodes have room for.
func (w *World) room(s *sight) room {
	r := make(room, len(s.nodes))
	for i := range s.nodes {
		r[string(s.nodes[i].ID)] = s.nodes[i].Capacity.GPUs
	}
	for _, e := range w.order {
		own := make(map[string]int)
		if e.started() {
			own = shares(e.held.placement)
			r.give(e.held.placement)
		}
		for _, p := range e.live() {
			n, gpus := pods.Node(p), e.job.PerWorker.GPUs
			switch {
			case !e.present(p), e.started() && own[n] < gpus: // it shrinks, and this one is not gone
				r[n] -= gpus
			default:
				own[n] -= gpus
			}
		}
		r[e.job.Node] -= e.coming() * e.job.PerWorker.GPUs
		if !e.ended && !e.started() {
			r.give(e.late)
		}
	}
	return r
}

// free reports whether nobody else is where a job that was started is to be.
func (r room) free(e *entry) bool {
	return !slices.ContainsFunc(e.held.placement, func(s cluster.Share) bool { return r[string(s.Node)] < 0 })
}

// give takes a placement from what there is room for.
func (r room) give(p cluster.Placement) {
	for _, s := range p {
		r[string(s.Node)] -= s.GPUs
	}
}

// takes reports whether there is room for a job, and takes it if there is.
func (r room) takes(e *entry) bool {
	for _, s := range e.held.placement {
		if r[string(s.Node)] < s.GPUs {
			return false
		}
	}
	r.give(e.held.placement)
	return true
}

// starting lets the pods of the planned generation come.
func (w *World) starting(e *entry) *step {
	if e.job.Kueue {
		return w.readmitting(e)
	}
	g := w.toStart(e)
	return w.write1(e, "start", func(o *object) error { return e.kind.Start(o, &g) })
}

// fencing makes a write that a leader before may have under way one of an object as it was.
func (w *World) fencing(e *entry) *step {
	epoch := w.plan.Spec.Epoch
	return w.write1(e, "fence", func(o *object) error { jobadapter.Stamp(o, epoch); return nil })
}

// resizing gives a running elastic job the number of workers that it is to have.
func (w *World) resizing(e *entry) *step {
	g := w.toGrant(e)
	return w.write1(e, "resize", func(o *object) error { return e.kind.Resize(o, &g) })
}

// toStart is toGrant for a job that starts. Of an elastic job whose first workers have ended by
// themselves, as it was stopped, the training has come to its end: all of them end then, and these
// are not made again. It gets no workers but those, and so it is complete.
func (w *World) toStart(e *entry) jobadapter.Grant {
	g := w.toGrant(e)
	if n := e.finished(); n > 0 {
		g.Workers = n
	}
	return g
}

// toGrant returns what each worker of a job gets, as a leader that reads the plan has it, too.
func (w *World) toGrant(e *entry) jobadapter.Grant {
	n := e.workers()
	return jobadapter.Grant{
		Epoch: w.plan.Spec.Epoch, Generation: e.held.generation, Workers: n, Node: e.node(),
		CPUs: math.Round(1000*e.held.CPUs) / 1000 / float64(n), Memory: e.held.Memory / int64(n), Stays: len(w.groups()) > 0,
		Tolerations: w.tolerations(),
	}
}

// stopping asks whether the pods of a job may be disrupted, and suspends it, or has Kueue do so.
func (w *World) stopping(e *entry) *step {
	epoch := w.plan.Spec.Epoch
	suspend := w.write1(e, "stop", func(o *object) error { return e.kind.Stop(o, epoch) })
	if e.job.Kueue {
		suspend = w.yielding(e)
	}
	var running []*corev1.Pod
	for _, p := range slices.Concat(e.live(), e.aides) {
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			running = append(running, p)
		}
	}
	return &step{e, "stop", func(ctx context.Context) error {
		if err := w.disrupt(ctx, running, epoch); err != nil {
			return err
		}
		return suspend.do(ctx)
	}}
}

// pinning sends the pods of the planned generation, once all are there or were, to their nodes,
// each to one that the plan gives GPUs of to the job which no other of its pods has.
func (w *World) pinning(e *entry) *step {
	left := shares(e.held.placement)
	var gated []*corev1.Pod
	n := e.done()
	for _, p := range e.live() {
		switch {
		case !e.present(p):
		case jobadapter.Gated(p):
			gated = append(gated, p)
			n++
		default:
			left[pods.Node(p)] -= e.job.PerWorker.GPUs
			n++
		}
	}
	if len(gated) == 0 || n < e.workers() {
		return nil
	}
	slices.SortFunc(gated, func(a, b *corev1.Pod) int { return index(a) - index(b) })
	to := make([]string, len(gated))
	for i := range gated {
		if to[i] = e.place(left); to[i] == "" {
			return nil // its other pods are where the plan has them no more: it is stopped soon
		}
	}
	epoch := w.plan.Spec.Epoch
	return &step{e, "pin", func(ctx context.Context) error {
		for i, p := range gated {
			if err := w.pin(ctx, p, to[i], epoch); err != nil {
				return err
			}
		}
		return nil
	}}
}

// place returns the first node of a placement on which a worker has room, and takes that.
func (e *entry) place(left map[string]int) string {
	for _, s := range e.held.placement {
		if name := string(s.Node); left[name] >= e.job.PerWorker.GPUs {
			left[name] -= e.job.PerWorker.GPUs
			return name
		}
	}
	return ""
}

// fits reports why an allocation is no whole workers on each node; nil: it is.
func (e *entry) fits(g *grant) error {
	for _, s := range g.placement {
		if s.GPUs%max(1, e.job.PerWorker.GPUs) != 0 {
			return fmt.Errorf("job %s: allocated %d GPUs of node %s, want whole workers of %d", e.spec.Name, s.GPUs, s.Node, e.job.PerWorker.GPUs)
		}
	}
	return nil
}
