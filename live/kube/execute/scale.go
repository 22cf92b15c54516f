package execute

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

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/planstore"
)

// Recheck is the interval at which a group's replicas are read again, because others may change them.
const Recheck = 30 * time.Second

// A Scaling is one step towards the planned size of a node group: it marks a leaving node, or sets the replicas.
type Scaling struct {
	group *v1alpha1.NodeGroup
	order *Order
	what  string
	do    func(context.Context) error
}

// Scalings returns the possible steps towards the planned sizes of node groups.
func (ns *Nodes) Scalings() []Scaling {
	if !ns.Options.Acts() || len(ns.Groups()) == 0 {
		return nil
	}
	var all []Scaling
	planned := plannedNodes(ns.Table.Plan)
	for _, s := range ns.statuses() {
		o := ns.OrderOf(s.Group)
		if WantedOf(ns.Table.Plan.Spec.NodeGroups, s.Group.Name) == nil || time.Now().Before(o.NotBefore) {
			continue
		}
		all = append(all, ns.markings(s, o)...)
		if ns.rescales(s, o, planned) {
			all = append(all, ns.setting(s, o, ns.settled(s, planned)))
		}
	}
	return all
}

func (ns *Nodes) markings(s *GroupStatus, o *Order) []Scaling {
	var all []Scaling
	mark := func(l *observe.GroupNode, change func(*corev1.Node) bool) {
		n := l.Object.DeepCopy()
		if ns.Writer.Unseen[n.UID] == 0 && change(n) {
			all = append(all, Scaling{s.Group, o, "mark node " + n.Name, func(ctx context.Context) error { return ns.Writer.Patch(ctx, n, l.Object) }})
		}
	}
	for _, l := range s.Leaves {
		mark(l, func(n *corev1.Node) bool { return inventory.Leave(n, ns.Options.Queue.Name) })
	}
	for _, l := range slices.Concat(s.Stays, s.Coming) {
		mark(l, inventory.Stay)
	}
	return all
}

func (s *GroupStatus) target() int {
	clean := 0
	for _, l := range s.Leaves {
		if !l.Held && inventory.Leaving(l.Object) {
			clean++
		}
	}
	return max(s.Wanted, s.Alive()-clean)
}

// settled reports whether the scale may be lowered. The provider removes empty nodes first, so no write or commit
// may be pending, and each node with planned jobs must have a bound pod.
func (ns *Nodes) settled(s *GroupStatus, planned map[string]bool) bool {
	if len(ns.Writer.Unseen) > 0 || ns.Rented.Committing {
		return false
	}
	for _, l := range s.Stays {
		if planned[l.Name()] && !l.Bound {
			return false
		}
	}
	return true
}

func (ns *Nodes) rescales(s *GroupStatus, o *Order, planned map[string]bool) bool {
	switch to := s.target(); {
	case o.read.IsZero() || time.Since(o.read) >= Recheck:
		return true
	case to < o.scaled:
		return ns.settled(s, planned)
	default:
		return to > o.scaled
	}
}

func (ns *Nodes) setting(s *GroupStatus, o *Order, mayLower bool) Scaling {
	to, epoch := s.target(), ns.Table.Plan.Spec.Epoch
	return Scaling{s.Group, o, "scale", func(ctx context.Context) error {
		object, scale := scaled(&s.Group.Scales), &unstructured.Unstructured{}
		if err := ns.Client.SubResource("scale").Get(ctx, object, scale); err != nil {
			return err
		}
		has, _, err := unstructured.NestedInt64(scale.Object, "spec", "replicas")
		if err != nil {
			return fmt.Errorf("its scale: %w", err)
		}
		if int(has) != to && (int(has) < to || mayLower) {
			if err := ns.Store.Leads(ctx, epoch); err != nil {
				return err
			}
			body := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"spec":{"replicas":%d}}`, scale.GetResourceVersion(), to)
			err := ns.Client.SubResource("scale").Patch(ctx, object, client.RawPatch(types.MergePatchType, body), client.FieldOwner(FieldOwner))
			if apierrors.IsConflict(err) {
				return nil
			}
			if err != nil {
				return err
			}
			has = int64(to)
		}
		ns.Mu.Lock()
		defer ns.Mu.Unlock()
		o.scaled, o.read = int(has), time.Now()
		return nil
	}}
}

func scaled(t *v1alpha1.ScaleTarget) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(t.APIVersion)
	o.SetKind(t.Kind)
	o.SetName(t.Name)
	o.SetNamespace(t.Namespace)
	return o
}

// CarryOutScaling tries a step once; a later pass retries it.
func (ns *Nodes) CarryOutScaling(ctx context.Context, s *Scaling) error {
	err := s.do(ctx)
	if ctx.Err() != nil {
		return nil
	}
	ns.Mu.Lock()
	defer ns.Mu.Unlock()
	if err == nil {
		s.order.Failures = 0
		return nil
	}
	if errors.Is(err, planstore.ErrFenced) {
		return err
	}
	s.order.FailFor(time.Now(), err)
	ns.Options.Log.LogAttrs(ctx, slog.LevelWarn, "a step of a node group failed",
		slog.String("queue", ns.Options.Queue.Name), slog.String("group", s.group.Name), slog.String("step", s.what), slog.Any("err", err))
	if ns.Options.Events != nil {
		ns.Options.Events.Eventf(ns.Options.Queue, nil, corev1.EventTypeWarning, "NodeGroupFailed", "Scale", "node group %s: %s: %v", s.group.Name, s.what, err)
	}
	return nil
}
