package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

// recheck is how often it is looked whether somebody else has changed a scale.
const recheck = 30 * time.Second

// A scaling brings a group closer to the plan: it marks nodes that leave, and takes the mark
// from those that do not, or sets the scale.
type scaling struct {
	group *v1alpha1.NodeGroup
	order *order
	what  string // for people
	do    func(context.Context) error
}

// scalings returns what can be done now for the groups of which the committed plan says
// something.
func (w *World) scalings() []scaling {
	if !w.o.acts() || len(w.groups()) == 0 {
		return nil
	}
	var all []scaling
	planned := plannedNodes(w.plan)
	for _, s := range w.stands() {
		o := w.orderOf(s.group)
		if wantedOf(w.plan.Spec.NodeGroups, s.group.Name) == nil || time.Now().Before(o.notBefore) {
			continue
		}
		all = append(all, w.markings(s, o)...)
		if w.rescales(s, o, planned) {
			all = append(all, w.setting(s, o, w.settled(s, planned)))
		}
	}
	return all
}

// markings returns what makes the nodes that leave, and no others, those that are marked.
func (w *World) markings(s *stand, o *order) []scaling {
	var all []scaling
	mark := func(l *leased, change func(*corev1.Node) bool) {
		n := l.object.DeepCopy()
		if w.written[n.UID] == 0 && change(n) {
			all = append(all, scaling{s.group, o, "mark node " + n.Name, func(ctx context.Context) error { return w.patch(ctx, n, l.object) }})
		}
	}
	for _, l := range s.leaves {
		mark(l, func(n *corev1.Node) bool { return inventory.Leave(n, w.o.Queue.Name) })
	}
	for _, l := range slices.Concat(s.stays, s.coming) {
		mark(l, inventory.Stay)
	}
	return all
}

// target returns what the scale is to say: as many nodes as wanted, and those that cannot go
// yet, because pods are on them or they are not marked.
func (s *stand) target() int {
	clean := 0
	for _, l := range s.leaves {
		if !l.held && inventory.Leaving(l.object) {
			clean++
		}
	}
	return max(s.wanted, s.alive()-clean)
}

// settled reports whether fewer nodes can be asked for: the watches have seen all that was
// written, no plan is being committed, and on each node of the group that a job is planned on
// there is a pod of one, which the provider sees. It takes nodes that look empty before others.
func (w *World) settled(s *stand, planned map[string]bool) bool {
	if len(w.written) > 0 || w.fleet.busy {
		return false
	}
	for _, l := range s.stays {
		if planned[l.name()] && !l.bound {
			return false
		}
	}
	return true
}

// rescales reports whether the scale is to be looked at: it may not say what it is to say.
func (w *World) rescales(s *stand, o *order, planned map[string]bool) bool {
	switch to := s.target(); {
	case o.read.IsZero() || time.Since(o.read) >= recheck:
		return true
	case to < o.scaled:
		return w.settled(s, planned)
	default:
		return to > o.scaled
	}
}

// setting returns what makes the scale of a group say what it is to say. Before it writes it
// looks whether this leader is still the one that plans; and it does not write over what
// somebody else wrote since it read.
func (w *World) setting(s *stand, o *order, mayLower bool) scaling {
	to, epoch := s.target(), w.plan.Spec.Epoch
	return scaling{s.group, o, "scale", func(ctx context.Context) error {
		object, scale := scaled(&s.group.Scales), &unstructured.Unstructured{}
		if err := w.client.SubResource("scale").Get(ctx, object, scale); err != nil {
			return err
		}
		has, _, err := unstructured.NestedInt64(scale.Object, "spec", "replicas")
		if err != nil {
			return fmt.Errorf("its scale: %w", err)
		}
		if int(has) != to && (int(has) < to || mayLower) {
			if err := w.leads(ctx, epoch); err != nil {
				return err
			}
			body := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"spec":{"replicas":%d}}`, scale.GetResourceVersion(), to)
			err := w.client.SubResource("scale").Patch(ctx, object, client.RawPatch(types.MergePatchType, body), client.FieldOwner(manager))
			if apierrors.IsConflict(err) {
				return nil
			}
			if err != nil {
				return err
			}
			has = int64(to)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		o.scaled, o.read = int(has), time.Now()
		return nil
	}}
}

// scaled returns the object that a target names, without what it says.
func scaled(t *v1alpha1.ScaleTarget) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(t.APIVersion)
	o.SetKind(t.Kind)
	o.SetName(t.Name)
	o.SetNamespace(t.Namespace)
	return o
}

// leads returns ErrFenced if another leader has taken the Plan over.
func (w *World) leads(ctx context.Context, epoch int64) error {
	var p v1alpha1.Plan
	if err := w.direct.Get(ctx, client.ObjectKey{Name: w.o.Queue.Name}, &p); err != nil {
		return err
	}
	if p.Spec.Epoch != epoch {
		return fmt.Errorf("%w: epoch %d of %s, and this is epoch %d of %s", ErrFenced, p.Spec.Epoch, p.Spec.Leader, epoch, w.o.Identity)
	}
	return nil
}

// carryOutScaling takes a step for a group. What fails is tried again later, and later each
// time.
func (w *World) carryOutScaling(ctx context.Context, s *scaling) error {
	err := s.do(ctx)
	if ctx.Err() != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		s.order.failures = 0
		return nil
	}
	if errors.Is(err, ErrFenced) {
		return err
	}
	s.order.failFor(time.Now(), err)
	w.o.Log.LogAttrs(ctx, slog.LevelWarn, "a step for a group of nodes failed",
		slog.String("queue", w.o.Queue.Name), slog.String("group", s.group.Name), slog.String("step", s.what), slog.Any("err", err))
	if w.o.Events != nil {
		w.o.Events.Eventf(w.o.Queue, nil, corev1.EventTypeWarning, "NodeGroupFailed", "Scale", "node group %s: %s: %v", s.group.Name, s.what, err)
	}
	return nil
}
