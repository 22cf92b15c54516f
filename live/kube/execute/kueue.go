package execute

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
)

var workload = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "Workload"}

const workloadJob = "kueue.x-k8s.io/job-uid"

// Kueue does not stop a job without a Workload, so that job is suspended.
func (w *Planner) deactivating(e *jobstate.Job) *Step {
	epoch, uid, namespace := w.table.Plan.Spec.Epoch, e.Parsed.UID, e.Parsed.Namespace
	suspend := w.rewriting(e, "stop", func(o *object) error { jobadapter.Suspend(o, epoch); return nil })
	return &Step{e, "stop", func(ctx context.Context) error {
		n, err := w.activate(ctx, namespace, uid, func(o *object) bool { return deactivated(o, epoch) })
		if n == 0 && (err == nil || meta.IsNoMatchError(err)) {
			return suspend.Do(ctx)
		}
		return err
	}}
}

func (w *Planner) readmitting(e *jobstate.Job) *Step {
	o, g := e.Object, w.toStart(e)
	return &Step{e, start, func(ctx context.Context) error {
		seen, err := o.Unpack()
		if err != nil {
			return err
		}
		next := seen.DeepCopy()
		if err := e.Adapter.Start(next, &g); err != nil {
			return err
		}
		if err := w.Patch(ctx, next, seen); err != nil || observe.Version(next) == observe.Version(seen) {
			return err // changed meanwhile: the next pass decides again
		}
		_, err = w.activate(ctx, seen.GetNamespace(), string(seen.GetUID()), func(o *object) bool {
			released := jobadapter.ReleaseWorkload(o, e.Parsed)
			return w.Marked(o, next, &g) || released
		})
		return err
	}}
}

// Marked adds the labels and tolerations of a job's next start to its Workload o, because Kueue copies them back into
// the job's template on eviction. It reports whether o changed. A Workload with quota is immutable.
func (w *Writer) Marked(o, job *object, g *jobadapter.Grant) bool {
	return isTrue(o, "Evicted") && !isTrue(o, "QuotaReserved") && jobadapter.MarkWorkload(o, job, g, corev1.ResourceName(w.Options.Nodes.GPUResource))
}

func isTrue(o *object, condition string) bool {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(all, func(one any) bool {
		c, _ := one.(map[string]any)
		return c["type"] == condition && c["status"] == "True"
	})
}

func (w *Planner) returning(e *jobstate.Job) *Step {
	o, g := e.Object, w.toGrant(e)
	return &Step{e, start, func(ctx context.Context) error {
		seen, err := o.Unpack()
		if err != nil {
			return err
		}
		n, err := w.activate(ctx, seen.GetNamespace(), string(seen.GetUID()), func(o *object) bool {
			marked, released := w.Marked(o, seen, &g), jobadapter.ReleaseWorkload(o, e.Parsed)
			return reactivated(o) || marked || released
		})
		if err != nil || n == 0 {
			return err
		}
		w.Mu.Lock()
		defer w.Mu.Unlock()
		e.Readmitted = g.Generation
		return nil
	}}
}

func deactivated(o *object, epoch int64) bool {
	if active, said, _ := unstructured.NestedBool(o.Object, "spec", "active"); said && !active {
		return false
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.Epoch] = strconv.FormatInt(epoch, 10)
	o.SetAnnotations(annotations)
	return unstructured.SetNestedField(o.Object, false, "spec", "active") == nil
}

func reactivated(o *object) bool {
	annotations := o.GetAnnotations()
	if annotations[v1alpha1.Epoch] == "" {
		return false
	}
	delete(annotations, v1alpha1.Epoch)
	o.SetAnnotations(annotations)
	return unstructured.SetNestedField(o.Object, true, "spec", "active") == nil
}

func (w *Writer) activate(ctx context.Context, namespace, uid string, change func(*object) bool) (int, error) {
	mapping, err := w.Client.RESTMapper().RESTMapping(workload)
	if meta.IsNoMatchError(err) {
		return 0, fmt.Errorf("it names a Kueue queue, but the cluster has no Kueue: %w", err)
	}
	if err != nil {
		return 0, err
	}
	var all unstructured.UnstructuredList
	all.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := w.Direct.List(ctx, &all, client.InNamespace(namespace), client.MatchingLabels{workloadJob: uid}); err != nil {
		return 0, err
	}
	for i := range all.Items {
		next := all.Items[i].DeepCopy()
		if isTrue(next, "Finished") || !change(next) { // a replaced slice is finished
			continue
		}
		err := w.Client.Patch(ctx, next, client.MergeFromWithOptions(&all.Items[i], client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldOwner))
		if err != nil {
			return 0, fmt.Errorf("workload %s: %w", next.GetName(), err)
		}
	}
	return len(all.Items), nil
}
