package kube

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

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
)

// What Kueue keeps of a job that it queues: a Workload, which names the job by its uid.
var workload = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "Workload"}

const workloadJob = "kueue.x-k8s.io/job-uid"

// yielding has Kueue stop a job that it queues.
func (w *World) yielding(e *entry) *step {
	epoch, uid, namespace := w.plan.Spec.Epoch, e.job.UID, e.job.Namespace
	return &step{e, "stop", func(ctx context.Context) error {
		_, err := w.activate(ctx, namespace, uid, func(o *object) bool { return deactivated(o, epoch) })
		return err
	}}
}

// readmitting writes into the object of a job that Kueue queues how it is to run, and then into
// its Workload.
func (w *World) readmitting(e *entry) *step {
	seen, g := e.object, w.toStart(e)
	return &step{e, "start", func(ctx context.Context) error {
		next := seen.DeepCopy()
		if err := e.kind.Start(next, &g); err != nil {
			return err
		}
		if err := w.patch(ctx, next, seen); err != nil || version(next) == version(seen) {
			return err // it has changed since: the next look decides anew
		}
		_, err := w.activate(ctx, seen.GetNamespace(), string(seen.GetUID()), func(o *object) bool { return w.marked(o, seen, &g) })
		return err
	}}
}

// marked marks the pods of a Workload for a start. It reports whether there was something to mark.
// As long as a Workload is evicted, Kueue writes the labels and tolerations that it had over those
// of the job's template, whenever the job changes: what a start writes there would not last. Once
// it has quota it cannot be changed.
func (w *World) marked(o, job *object, g *jobadapter.Grant) bool {
	return isTrue(o, "Evicted") && !isTrue(o, "QuotaReserved") && jobadapter.MarkWorkload(o, job, g, corev1.ResourceName(w.o.Nodes.GPUResource))
}

// isTrue reports whether an object says that a condition is true.
func isTrue(o *object, condition string) bool {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(all, func(one any) bool {
		c, _ := one.(map[string]any)
		return c["type"] == condition && c["status"] == "True"
	})
}

// returning has Kueue admit a job again that it was told to stop, once its object says how it
// is to run. What others have stopped stays so.
func (w *World) returning(e *entry) *step {
	seen, g := e.object, w.toGrant(e)
	return &step{e, "start", func(ctx context.Context) error {
		n, err := w.activate(ctx, seen.GetNamespace(), string(seen.GetUID()), func(o *object) bool {
			marked := w.marked(o, seen, &g)
			return reactivated(o) || marked
		})
		if err != nil || n == 0 {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		e.back = g.Generation
		return nil
	}}
}

// deactivated makes a Workload one that is not to run. It reports whether it was not so.
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

// reactivated undoes deactivated. It reports whether there was something to undo.
func reactivated(o *object) bool {
	annotations := o.GetAnnotations()
	if annotations[v1alpha1.Epoch] == "" {
		return false
	}
	delete(annotations, v1alpha1.Epoch)
	o.SetAnnotations(annotations)
	return unstructured.SetNestedField(o.Object, true, "spec", "active") == nil
}

// activate changes the Workloads of a job, of which there is one at most times, as change does
// where it reports so. It returns how many there are. They are read from the API server: this
// is asked only of jobs that stop or start.
func (w *World) activate(ctx context.Context, namespace, uid string, change func(*object) bool) (int, error) {
	mapping, err := w.client.RESTMapper().RESTMapping(workload)
	if meta.IsNoMatchError(err) {
		return 0, fmt.Errorf("it names a queue of Kueue's, and the cluster has no Kueue: %w", err)
	}
	if err != nil {
		return 0, err
	}
	var all unstructured.UnstructuredList
	all.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := w.direct.List(ctx, &all, client.InNamespace(namespace), client.MatchingLabels{workloadJob: uid}); err != nil {
		return 0, err
	}
	for i := range all.Items {
		next := all.Items[i].DeepCopy()
		if !change(next) {
			continue
		}
		err := w.client.Patch(ctx, next, client.MergeFromWithOptions(&all.Items[i], client.MergeFromWithOptimisticLock{}), client.FieldOwner(manager))
		if err != nil {
			return 0, fmt.Errorf("workload %s: %w", next.GetName(), err)
		}
	}
	return len(all.Items), nil
}
