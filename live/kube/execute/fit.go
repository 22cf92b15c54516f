package execute

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
)

type podChanges map[*jobstate.Job][]jobadapter.Fitting

// Requests shrink at once. Nodes with shrinking requests lose their room in r.
func (w *Planner) podChanges(s *observe.Observation, r room, now time.Time) (podChanges, []Note) {
	all := make(podChanges)
	var growing []*jobstate.Job
	var notes []Note
	if w.Options.Mode() != v1alpha1.Resize {
		return all, nil // running jobs must not change
	}
	for _, e := range w.table.Order {
		changes, fit := w.unfit(e, now)
		if fit != nil {
			notes = append(notes, Note{Job: e, Fit: fit})
		}
		if len(changes) == 0 {
			continue
		}
		less := slices.DeleteFunc(slices.Clone(changes), func(f jobadapter.Fitting) bool { return !f.Shrinks(w.Options.Nodes.GPUResource) })
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
			if !left.holds(e.Held.Placement) {
				delete(all, e)
			}
		}
	}
	return all, notes
}

func (w *Planner) unfit(e *jobstate.Job, at time.Time) ([]jobadapter.Fitting, *jobstate.Fit) {
	if e.Stale() || e.Trouble != "" || !e.Started() || !e.Running() || e.Parsed.Kueue || at.Before(e.Fit.NotBefore) {
		return nil, nil
	}
	to := w.toGrant(e)
	now := jobstate.Compared{Generation: to.Generation, Cpus: to.CPUs, Memory: to.Memory, Pods: len(e.Pods)}
	for _, p := range e.Pods {
		now.Newest = max(now.Newest, observe.Version(p))
	}
	if now == e.Fit.At {
		return nil, nil
	}
	running := slices.DeleteFunc(slices.Clone(e.Pods), func(p *corev1.Pod) bool {
		return !e.Present(p) || p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil
	})
	if len(running) == 0 {
		return nil, nil
	}
	changes, err := fits(e, running, &to)
	switch {
	case err != nil:
		fit := e.Fit
		fit.Fail(at)
		fit.Why = err.Error()
		return nil, &fit
	case len(changes) == 0:
		return nil, &jobstate.Fit{Why: infeasible(running), At: now}
	}
	return changes, nil
}

func fits(e *jobstate.Job, running []*corev1.Pod, to *jobadapter.Grant) ([]jobadapter.Fitting, error) {
	o, err := e.Object.Unpack()
	if err != nil {
		return nil, err
	}
	return e.Adapter.Fit(o, running, to)
}

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

func (w *Planner) fitting(e *jobstate.Job, changes []jobadapter.Fitting) *Step {
	if len(changes) == 0 {
		return nil
	}
	epoch := w.table.Plan.Spec.Epoch
	return &Step{e, "fit", func(ctx context.Context) error {
		var err error
		for i := range changes {
			if err = w.fit(ctx, &changes[i], epoch); err != nil {
				break
			}
		}
		w.Mu.Lock()
		defer w.Mu.Unlock()
		e.Fit.Why = ""
		if err != nil && ctx.Err() == nil {
			e.Fit.FailFor(time.Now(), err)
			e.Fit.Why = err.Error()
		}
		return nil
	}}
}

// fit writes the epoch for admission first, because a resize writes only resources.
func (w *Writer) fit(ctx context.Context, f *jobadapter.Fitting, epoch int64) error {
	is, text := f.Is, strconv.FormatInt(epoch, 10)
	if is.Annotations[v1alpha1.Epoch] != text {
		is = is.DeepCopy()
		if is.Annotations == nil {
			is.Annotations = map[string]string{}
		}
		is.Annotations[v1alpha1.Epoch] = text
		if err := w.Patch(ctx, is, f.Is); err != nil {
			return err
		}
	}
	next := is.DeepCopy()
	next.Spec.Containers = f.ToBe.Spec.Containers
	return w.finish(next, w.Client.SubResource("resize").Patch(ctx, next, client.MergeFromWithOptions(is, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldOwner)))
}

type freeByNode map[string]cluster.Resources

// Each job counts with the larger of its current and planned requests.
func (w *Planner) spare(s *observe.Observation) freeByNode {
	left := make(freeByNode, len(s.Nodes))
	for i := range s.Nodes {
		has := s.Nodes[i].Capacity
		if has.CPUs == 0 && has.Memory == 0 {
			has.CPUs, has.Memory = inventory.MostCPUs, inventory.MostMemory
		}
		left[string(s.Nodes[i].ID)] = has
	}
	for _, e := range w.table.Order {
		if e.Ended() { // the capacity is without its pods
			continue
		}
		asks := make(freeByNode)
		for _, p := range slices.Concat(e.Live(), e.Helpers) {
			on := inventory.Node(p)
			asks[on] = inventory.Sum(asks[on], inventory.Request(&p.Spec, corev1.ResourceName(w.Options.Nodes.GPUResource)))
		}
		if e.Started() {
			g := w.toGrant(e)
			for _, share := range e.Held.Placement {
				n := e.WorkersOn(share.GPUs)
				asks[string(share.Node)] = inventory.Most(asks[string(share.Node)], cluster.Resources{CPUs: g.CPUs * float64(n), Memory: g.Memory * int64(n)})
			}
		}
		for on, r := range asks {
			has := left[on]
			left[on] = cluster.Resources{CPUs: has.CPUs - r.CPUs, Memory: has.Memory - r.Memory}
		}
	}
	return left
}

func (l freeByNode) holds(p cluster.Placement) bool {
	const none = -1e-6 // cores: rounding error of sums
	return !slices.ContainsFunc(p, func(s cluster.Share) bool {
		left := l[string(s.Node)]
		return left.CPUs < none || left.Memory < 0
	})
}
