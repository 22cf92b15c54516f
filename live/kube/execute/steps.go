package execute

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
)

// A Step is one change of the cluster towards the plan, such as the start of a job.
type Step struct {
	Job  *jobstate.Job
	What string
	Do   func(context.Context) error
}

// A Note is a change of a job's stored state that planning its steps requires.
type Note struct {
	Job     *jobstate.Job
	Retried bool
	Fit     *jobstate.Fit // nil: unchanged
}

// Apply makes the change. The caller must hold the lock of the job table.
func (n *Note) Apply() {
	if n.Retried {
		n.Job.Trouble = ""
	}
	if n.Fit != nil {
		n.Job.Fit = *n.Fit
	}
}

// Steps returns the possible steps, at most one per job: all stops, starts with free GPUs in order of submission, and
// changes of pods' requests. notes are changes of the jobs' stored state.
func (w *Planner) Steps(s *observe.Observation, now time.Time) (steps []Step, notes []Note) {
	if !w.Options.Acts() {
		return nil, nil
	}
	r := w.room(s)
	changes, notes := w.podChanges(s, r, now)
	for _, e := range w.table.Order {
		if !e.Stale() && e.Trouble != "" && !now.Before(e.NotBefore) {
			notes = append(notes, Note{Job: e, Retried: true})
		}
		_, do := e.Look(now)
		st := w.step(s, e, do, r, now)
		if st == nil {
			st = w.fitting(e, changes[e])
		}
		if st != nil {
			steps = append(steps, *st)
		}
	}
	return steps, notes
}

func (w *Planner) step(s *observe.Observation, e *jobstate.Job, do jobstate.Action, r room, now time.Time) *Step {
	switch do {
	case jobstate.Nothing:
		return nil
	case jobstate.Stop: // other jobs may wait for its GPUs
		return w.stopping(e)
	case jobstate.Fence:
		return w.fencing(e)
	case jobstate.Resume:
		if r.free(e) {
			return w.starting(e) // this fences, too
		}
		return w.fencing(e)
	case jobstate.Start:
		if r.takes(e) {
			return w.starting(e)
		}
	case jobstate.Close:
		return w.closing(e, e.Outlived(now))
	case jobstate.Ask:
		return w.asking(e)
	case jobstate.Readmit:
		return w.returning(e)
	case jobstate.Shrink:
		return w.resizing(e)
	case jobstate.Grow:
		if r.free(e) {
			return w.resizing(e)
		}
	case jobstate.Pin:
		if r.free(e) { // a previous leader may have placed another pod there
			return w.pinning(s, e)
		}
	}
	return nil
}

// room maps each node to its GPUs for new starts: capacity minus pods that must still go or may still come,
// started jobs, and late starts of a previous leader. It is negative if a started job has to wait for pods to go.
type room map[string]int

func (w *Planner) room(s *observe.Observation) room {
	r := make(room, len(s.Nodes))
	for i := range s.Nodes {
		r[string(s.Nodes[i].ID)] = s.Nodes[i].Capacity.GPUs
	}
	for _, e := range w.table.Order {
		if e.Ended() { // the capacity is without its pods
			continue
		}
		own := make(map[string]int)
		if e.Started() {
			own = jobstate.GPUsByNode(e.Held.Placement)
			r.give(e.Held.Placement)
		}
		for _, p := range e.Live() {
			n, gpus := inventory.Node(p), e.Parsed.PerWorker.GPUs
			switch {
			case !e.Present(p), e.Started() && own[n] < gpus: // this pod must still go
				r[n] -= gpus
			default:
				own[n] -= gpus
			}
		}
		r[e.Parsed.Node] -= e.Coming() * e.Parsed.PerWorker.GPUs
		if !e.Started() {
			r.give(e.Late)
		}
	}
	return r
}

func (r room) free(e *jobstate.Job) bool {
	return !slices.ContainsFunc(e.Held.Placement, func(s cluster.Share) bool { return r[string(s.Node)] < 0 })
}

func (r room) give(p cluster.Placement) {
	for _, s := range p {
		r[string(s.Node)] -= s.GPUs
	}
}

func (r room) takes(e *jobstate.Job) bool {
	for _, s := range e.Held.Placement {
		if r[string(s.Node)] < s.GPUs {
			return false
		}
	}
	r.give(e.Held.Placement)
	return true
}

func (w *Planner) starting(e *jobstate.Job) *Step {
	if e.Parsed.Kueue {
		return w.readmitting(e)
	}
	g := w.toStart(e)
	return w.rewriting(e, start, func(o *object) error { return e.Adapter.Start(o, &g) })
}

func (w *Planner) fencing(e *jobstate.Job) *Step {
	epoch := w.table.Plan.Spec.Epoch
	return w.rewriting(e, "fence", func(o *object) error { jobadapter.Stamp(o, epoch); return nil })
}

func (w *Planner) resizing(e *jobstate.Job) *Step {
	g := w.toGrant(e)
	return w.rewriting(e, "resize", func(o *object) error { return e.Adapter.Resize(o, &g) })
}

func (w *Planner) closing(e *jobstate.Job, workers int) *Step {
	g := w.toGrant(e)
	g.Workers = workers
	return w.rewriting(e, "end", func(o *object) error { return e.Adapter.Resize(o, &g) })
}

// toStart returns what a starting job gets. If its first workers have succeeded, it gets only these, and so completes.
func (w *Planner) toStart(e *jobstate.Job) jobadapter.Grant {
	g := w.toGrant(e)
	if n := e.Finished(); n > 0 {
		g.Workers = n
	}
	return g
}

// toGrant returns what a job gets according to the plan alone, so that every leader computes the same.
func (w *Planner) toGrant(e *jobstate.Job) jobadapter.Grant {
	n := e.Workers()
	var flavor map[string]string
	if e.Parsed.Kueue {
		flavor = w.table.Labels[e.Held.GPUType]
	}
	return jobadapter.Grant{
		Epoch: w.table.Plan.Spec.Epoch, Generation: e.Held.Generation, Workers: n, Node: e.Node(),
		CPUs: math.Round(1000*e.Held.CPUs) / 1000 / float64(n), Memory: e.Held.Memory / int64(n), Stays: len(w.Options.Queue.Spec.NodeGroups) > 0,
		Tolerations: podTolerations(w.Options), Flavor: flavor,
	}
}

func (w *Planner) stopping(e *jobstate.Job) *Step {
	epoch := w.table.Plan.Spec.Epoch
	suspend := w.rewriting(e, "stop", func(o *object) error { return e.Adapter.Stop(o, epoch) })
	if e.Parsed.Kueue {
		suspend = w.deactivating(e)
	}
	var running []*corev1.Pod
	for _, p := range slices.Concat(e.Live(), e.Helpers) {
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			running = append(running, p)
		}
	}
	if w.Options.Queue.Spec.Limits.IgnoreDisruptionBudgets {
		return suspend
	}
	return &Step{e, "stop", func(ctx context.Context) error {
		if err := w.disrupt(ctx, running, epoch); err != nil {
			return err
		}
		return suspend.Do(ctx)
	}}
}

func order(s *observe.Observation, e *jobstate.Job, pods []*corev1.Pod) {
	choices := make(map[*corev1.Pod]int)
	if len(e.Parsed.Roles) > 0 {
		for _, p := range pods {
			for _, share := range e.Held.Placement {
				if allows(s, p, string(share.Node)) {
					choices[p]++
				}
			}
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Or(choices[a]-choices[b], jobstate.Index(a)-jobstate.Index(b)) })
}

func allows(s *observe.Observation, p *corev1.Pod, node string) bool {
	n := s.Object(node)
	return n == nil || inventory.Allows(&p.Spec, n)
}

func (w *Planner) pinning(s *observe.Observation, e *jobstate.Job) *Step {
	left := jobstate.GPUsByNode(e.Held.Placement)
	var gated []*corev1.Pod
	n := e.Done()
	for _, p := range e.Live() {
		switch {
		case !e.Present(p):
		case jobadapter.Gated(p):
			gated = append(gated, p)
			n++
		default:
			left[inventory.Node(p)] -= e.Parsed.PerWorker.GPUs
			n++
		}
	}
	if len(gated) == 0 || n < e.Workers() {
		return nil
	}
	order(s, e, gated)
	to := make([]string, len(gated))
	for i, p := range gated {
		if to[i] = e.Place(left, func(node string) bool { return allows(s, p, node) }); to[i] == "" {
			return nil
		}
	}
	epoch := w.table.Plan.Spec.Epoch
	return &Step{e, "pin", func(ctx context.Context) error {
		for i, p := range gated {
			if err := w.pin(ctx, p, to[i], epoch); err != nil {
				return err
			}
		}
		return nil
	}}
}
