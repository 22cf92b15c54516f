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

// What Kueue keeps of a job that it queues: a Workload, which names the job by its uid.
var workload = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "Workload"}

const workloadJob = "kueue.x-k8s.io/job-uid"

// yielding has Kueue stop a job that it queues.
func (w *Planner) deactivating(e *jobstate.Job) *Step {
	epoch, uid, namespace := w.table.Plan.Spec.Epoch, e.Parsed.UID, e.Parsed.Namespace
	return &Step{e, "stop", func(ctx context.Context) error {
		_, err := w.activate(ctx, namespace, uid, func(o *object) bool { return deactivated(o, epoch) })
		return err
	}}
}

// readmitting writes into the object of a job that Kueue queues how it is to run, and then into
// its Workload.
func (w *Planner) readmitting(e *jobstate.Job) *Step {
	o, g := e.Object, w.ToStart(e)
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
			return err // it has changed since: the next look decides anew
		}
		_, err = w.activate(ctx, seen.GetNamespace(), string(seen.GetUID()), func(o *object) bool {
			released := jobadapter.ReleaseWorkload(o, e.Parsed)
			return w.Marked(o, next, &g) || released
		})
		return err
	}}
}

// Marked marks the pods of a Workload for a start, as those of the job's object are marked. It reports whether there was something to mark.
// As long as a Workload is evicted, Kueue writes the labels and tolerations that it had over those
// of the job's template, whenever the job changes: what a start writes there would not last. Once
// it has quota it cannot be changed.
func (w *Writer) Marked(o, job *object, g *jobadapter.Grant) bool {
	return isTrue(o, "Evicted") && !isTrue(o, "QuotaReserved") && jobadapter.MarkWorkload(o, job, g, corev1.ResourceName(w.Options.Nodes.GPUResource))
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
func (w *Planner) returning(e *jobstate.Job) *Step {
	o, g := e.Object, w.ToGrant(e)
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
func (w *Writer) activate(ctx context.Context, namespace, uid string, change func(*object) bool) (int, error) {
	mapping, err := w.Client.RESTMapper().RESTMapping(workload)
	if meta.IsNoMatchError(err) {
		return 0, fmt.Errorf("it names a queue of Kueue's, and the cluster has no Kueue: %w", err)
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
		if isTrue(next, "Finished") || !change(next) { // a slice that another has replaced is finished
			continue
		}
		err := w.Client.Patch(ctx, next, client.MergeFromWithOptions(&all.Items[i], client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldOwner))
		if err != nil {
			return 0, fmt.Errorf("workload %s: %w", next.GetName(), err)
		}
	}
	return len(all.Items), nil
}
