package execute

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
)

type object = unstructured.Unstructured

func (w *Planner) rewriting(e *jobstate.Job, what string, change func(*object) error) *Step {
	seen := e.Object
	return &Step{e, what, func(ctx context.Context) error {
		o, err := seen.Unpack()
		if err != nil {
			return err
		}
		next := o.DeepCopy()
		if err := change(next); err != nil {
			return err
		}
		return w.Patch(ctx, next, o)
	}}
}

func (w *Writer) pin(ctx context.Context, p *corev1.Pod, node string, epoch int64) error {
	next := p.DeepCopy()
	if err := jobadapter.Pin(next, node, epoch); err != nil {
		return err
	}
	return w.Patch(ctx, next, p)
}

// Patch writes the difference between the versions seen and next of an object.
func (w *Writer) Patch(ctx context.Context, next, seen client.Object) error {
	return w.finish(next, w.Client.Patch(ctx, next, client.MergeFromWithOptions(seen, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldOwner)))
}

func (w *Writer) finish(next client.Object, err error) error {
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.Unseen[next.GetUID()] = observe.Version(next)
	return nil
}

// FieldOwner is the scheduler's field manager in the API server.
const FieldOwner = "oxgang"

// disrupt returns nil if all given pods of a job may stop now: dry-run evictions succeed, and PodDisruptionBudgets
// allow them together. It does not evict: the Job controller counts an evicted pod as a failure.
func (w *Writer) disrupt(ctx context.Context, pods []*corev1.Pod, epoch int64) error {
	for _, p := range pods {
		e := &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{
				Name: p.Name, Namespace: p.Namespace, Labels: map[string]string{v1alpha1.QueueLabel: w.Options.Queue.Name},
				Annotations: map[string]string{v1alpha1.Epoch: strconv.FormatInt(epoch, 10)},
			},
			DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}},
		}
		err := w.Client.SubResource("eviction").Create(ctx, p.DeepCopy(), e)
		if apierrors.IsTooManyRequests(err) {
			return fmt.Errorf("a PodDisruptionBudget protects pod %s now: %w", p.Name, err)
		}
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	if len(pods) < 2 {
		return nil
	}
	return w.together(ctx, pods)
}

func (w *Writer) together(ctx context.Context, pods []*corev1.Pod) error {
	var budgets policyv1.PodDisruptionBudgetList
	if err := w.Client.List(ctx, &budgets, client.InNamespace(pods[0].Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range budgets.Items {
		b := &budgets.Items[i]
		covers, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			return fmt.Errorf("PodDisruptionBudget %s: %w", b.Name, err)
		}
		n := 0
		for _, p := range pods {
			if covers.Matches(labels.Set(p.Labels)) {
				n++
			}
		}
		if n > int(b.Status.DisruptionsAllowed) {
			return fmt.Errorf("PodDisruptionBudget %s allows %d disruptions, but %d pods of the job have to stop", b.Name, b.Status.DisruptionsAllowed, n)
		}
	}
	return nil
}
