package kube

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/pods"
)

// A fit is how the CPUs and memory that a job's running pods ask for stand to what is planned.
type fit struct {
	retry
	why string // they are not as planned, for people; empty: they are, or are being made so
	at  fitted // when nothing was to do
}

// fitted is what pods were compared with, and which pods.
type fitted struct {
	generation int64
	cpus       float64 // per worker, as jobadapter.Grant has them
	memory     int64   // likewise
	pods       int
	newest     uint64 // resource version
}

// fits are changes of what running pods ask for that can be made now, by job.
type fits map[*entry][]jobadapter.Fitting

// fits returns what can be done so that running pods ask for what is planned: less at once, and
// more where the node has room for it beside what all others ask for, or are to. Starts wait for
// nodes on which pods are to ask for less: they have no room in r.
func (w *World) fits(s *sight, r room) fits {
	all := make(fits)
	var growing []*entry
	for _, e := range w.order {
		changes := w.unfit(e)
		if len(changes) == 0 {
			continue
		}
		less := slices.DeleteFunc(slices.Clone(changes), func(f jobadapter.Fitting) bool { return !f.Shrinks(w.o.Nodes.GPUResource) })
		for _, f := range less {
			r[f.Is.Spec.NodeName] = min(r[f.Is.Spec.NodeName], 0)
		}
		if all[e] = less; len(less) == 0 {
			all[e], growing = changes, append(growing, e)
		}
	}
	if len(growing) > 0 {
		left := w.spare(s)
		for _, e := range growing {
			if !left.holds(e.held.placement) {
				delete(all, e)
			}
		}
	}
	return all
}

// unfit returns the running pods of a job that do not ask for what is planned, and can without a
// restart.
func (w *World) unfit(e *entry) []jobadapter.Fitting {
	if e.stale || e.trouble != "" || !e.started() || !e.running() || e.job.Kueue || time.Now().Before(e.fit.notBefore) {
		return nil
	}
	to := w.toGrant(e)
	now := fitted{generation: to.Generation, cpus: to.CPUs, memory: to.Memory, pods: len(e.pods)}
	for _, p := range e.pods {
		now.newest = max(now.newest, version(p))
	}
	if now == e.fit.at {
		return nil
	}
	running := slices.DeleteFunc(slices.Clone(e.pods), func(p *corev1.Pod) bool {
		return !e.present(p) || p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil
	})
	if len(running) == 0 {
		return nil
	}
	changes, err := e.kind.Fit(e.object, running, &to)
	switch {
	case err != nil:
		e.fit.fail(time.Now())
		e.fit.why = err.Error()
	case len(changes) == 0:
		e.fit = fit{why: infeasible(running), at: now}
	}
	return changes
}

// infeasible returns what a kubelet says of a pod that cannot be given what it asks for on its
// node; empty: none does.
func infeasible(all []*corev1.Pod) string {
	for _, p := range all {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodResizePending && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonInfeasible {
				return fmt.Sprintf("pod %s: %s", p.Name, c.Message)
			}
		}
	}
	return ""
}

// fitting has pods ask for what is planned. What fails is tried again later, and keeps nothing
// else of the job from being done.
func (w *World) fitting(e *entry, changes []jobadapter.Fitting) *step {
	if len(changes) == 0 {
		return nil
	}
	epoch := w.plan.Spec.Epoch
	return &step{e, "fit", func(ctx context.Context) error {
		var err error
		for i := range changes {
			if err = w.fit(ctx, &changes[i], epoch); err != nil {
				break
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		e.fit.why = ""
		if err != nil && ctx.Err() == nil {
			e.fit.failFor(time.Now(), err)
			e.fit.why = err.Error()
		}
		return nil
	}}
}

// fit resizes a pod where it runs. That writes nothing but resources, so the epoch, which the
// API server compares, is written before.
func (w *World) fit(ctx context.Context, f *jobadapter.Fitting, epoch int64) error {
	is, text := f.Is, strconv.FormatInt(epoch, 10)
	if is.Annotations[v1alpha1.Epoch] != text {
		is = is.DeepCopy()
		if is.Annotations == nil {
			is.Annotations = map[string]string{}
		}
		is.Annotations[v1alpha1.Epoch] = text
		if err := w.patch(ctx, is, f.Is); err != nil {
			return err
		}
	}
	next := is.DeepCopy()
	next.Spec.Containers = f.ToBe.Spec.Containers
	return w.took(next, w.client.SubResource("resize").Patch(ctx, next, client.MergeFromWithOptions(is, client.MergeFromWithOptimisticLock{}), client.FieldOwner(manager)))
}

// larder is what nodes have of CPUs and memory that nobody asks for, or is to.
type larder map[string]cluster.Resources

// spare returns what the nodes have left: all they have, less for each job what its pods ask
// for or are to, whichever is more.
func (w *World) spare(s *sight) larder {
	left := make(larder, len(s.nodes))
	for i := range s.nodes {
		has := s.nodes[i].Capacity
		if has.CPUs == 0 && has.Memory == 0 { // it does not say
			has.CPUs, has.Memory = pods.MostCPUs, pods.MostMemory
		}
		left[string(s.nodes[i].ID)] = has
	}
	for _, e := range w.order {
		asks := make(larder)
		for _, p := range slices.Concat(e.live(), e.aides) {
			on := pods.Node(p)
			asks[on] = pods.Sum(asks[on], pods.Request(&p.Spec, corev1.ResourceName(w.o.Nodes.GPUResource)))
		}
		if e.started() {
			g := w.toGrant(e)
			for _, share := range e.held.placement {
				n := e.workersOn(share.GPUs)
				asks[string(share.Node)] = pods.Most(asks[string(share.Node)], cluster.Resources{CPUs: g.CPUs * float64(n), Memory: g.Memory * int64(n)})
			}
		}
		for on, r := range asks {
			has := left[on]
			left[on] = cluster.Resources{CPUs: has.CPUs - r.CPUs, Memory: has.Memory - r.Memory}
		}
	}
	return left
}

// holds reports whether what is planned fits on the nodes of a placement.
func (l larder) holds(p cluster.Placement) bool {
	const none = -1e-6 // of a core, as sums of fractions have it
	return !slices.ContainsFunc(p, func(s cluster.Share) bool {
		left := l[string(s.Node)]
		return left.CPUs < none || left.Memory < 0
	})
}
