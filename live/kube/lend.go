package kube

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

// This file is how nodes come on loan, and go back: by the plan first, and then by their marks.

// borrow takes nodes on loan until a group has so many: fewer, where the owner has come to need
// them since the round began.
func (d *draft) borrow(p *inventory.Pool, nodes int) error {
	if nodes < 0 || nodes > p.Nodes {
		return fmt.Errorf("group %s: %d nodes wanted on loan, want 0 to %d", p.Group, nodes, p.Nodes)
	}
	for _, n := range p.Next(nodes - d.lent(p.Group)) {
		d.loans, d.changed = append(d.loans, v1alpha1.NodeLoan{Name: string(n.ID), Group: string(p.Group)}), true
	}
	slices.SortFunc(d.loans, byName)
	return nil
}

// lent returns how many nodes of a group are on loan, as it is so far.
func (d *draft) lent(g cluster.Group) int {
	n := 0
	for _, l := range d.loans {
		if l.Group == string(g) {
			n++
		}
	}
	return n
}

// repay makes a node one that is on loan no more. One that was taken since the round began is
// none already. It returns an error if a job is on it by what is planned.
func (d *draft) repay(id cluster.NodeID) error {
	if on := d.jobs()[string(id)]; on != "" {
		return fmt.Errorf("node %s: given back, want none that job %s is on", id, on)
	}
	d.changed = true
	d.loans = slices.DeleteFunc(d.loans, func(l v1alpha1.NodeLoan) bool { return l.Name == string(id) })
	return nil
}

// pool returns the lender's nodes of a group; nil: it has none.
func (w *World) pool(g cluster.Group) *inventory.Pool {
	i := slices.IndexFunc(w.loans.pools, func(p inventory.Pool) bool { return p.Group == g })
	if i < 0 {
		return nil
	}
	return &w.loans.pools[i]
}

// lent reports whether the committed plan has a node on loan.
func (w *World) lent(id cluster.NodeID) bool {
	_, lent := slices.BinarySearchFunc(w.plan.Spec.Loans, string(id), nameOf)
	return lent
}

func nameOf(l v1alpha1.NodeLoan, name string) int { return strings.Compare(l.Name, name) }

func byName(a, b v1alpha1.NodeLoan) int { return strings.Compare(a.Name, b.Name) }

// A transfer is a node that is to be marked as lent, or as its owner's.
type transfer struct {
	seen *corev1.Node
	next *corev1.Node
}

// transfers returns what is to be written to nodes: those on loan are marked, unless pods of
// their owner have come there meanwhile, and others with our mark lose it once no pod of ours
// is on them, pinned to them, or may yet come there. As long as a watch does not show what was
// last written, nothing is.
func (w *World) transfers(s *sight) []transfer {
	if !w.o.acts() || time.Now().Before(w.loans.notBefore) || len(w.written) > 0 {
		return nil
	}
	on := w.on()
	var all []transfer
	for i := range s.lender.Servers {
		n := &s.lender.Servers[i]
		if _, lent := on[n.ID]; lent && n.Theirs == 0 {
			all = w.appendTransfer(all, n.Object, func(o *corev1.Node) error { return inventory.Lend(o, w.o.Queue.Name) })
		}
	}
	for _, n := range s.marked {
		if _, planned := slices.BinarySearchFunc(w.plan.Spec.Loans, n.Name, nameOf); !planned && !w.awaits(n.Name) {
			all = w.appendTransfer(all, n, func(o *corev1.Node) error { return w.returned(o, s) })
		}
	}
	return all
}

// awaits reports whether pods of a job may yet come to a node that its object names, though the
// job is stopped.
func (w *World) awaits(node string) bool {
	return slices.ContainsFunc(w.order, func(e *entry) bool { return e.job.Node == node && (e.stale || e.coming() > 0) })
}

// returned makes a node its owner's again, or returns an error that says who is there. Pods of
// ours are also those whose job is gone, or has opted out.
func (w *World) returned(n *corev1.Node, s *sight) error {
	return inventory.Return(n, w.o.Queue.Name, s.all, w.isOurs(s))
}

// isOurs returns whether a pod is, or was, one of a job of the queue.
func (w *World) isOurs(s *sight) func(p *corev1.Pod) bool {
	return func(p *corev1.Pod) bool { return p.Labels[v1alpha1.QueueLabel] == w.o.Queue.Name || s.ours[s.owner(p)] }
}

// appendTransfer appends what change makes of a node, if it can be done and changes it.
func (w *World) appendTransfer(all []transfer, n *corev1.Node, change func(*corev1.Node) error) []transfer {
	next := n.DeepCopy()
	if change(next) != nil || equality.Semantic.DeepEqual(next, n) {
		return all
	}
	return append(all, transfer{n, next})
}

// carryOver writes to a node. What fails is tried again later, and later each time.
func (w *World) carryOver(ctx context.Context, t *transfer) {
	err := w.patch(ctx, t.next, t.seen)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.loans.retry = retry{}
	case ctx.Err() == nil:
		w.loans.failFor(time.Now(), err)
		w.o.Log.LogAttrs(ctx, slog.LevelWarn, "a node was not marked", slog.String("queue", w.o.Queue.Name), slog.String("node", t.seen.Name), slog.Any("err", err))
	}
}

// tolerations returns those that pods of the queue's jobs get: of the queue, and what they need on
// nodes on loan, whose taints the owners of jobs do not know.
func (w *World) tolerations() []corev1.Toleration {
	all := Tolerations(w.o.Queue)
	if w.o.Queue.Spec.Loans == nil {
		return all
	}
	return append(all,
		corev1.Toleration{Key: v1alpha1.LoanTaint, Operator: corev1.TolerationOpEqual, Value: w.o.Queue.Name, Effect: corev1.TaintEffectNoSchedule},
		corev1.Toleration{Key: w.o.Nodes.GPUResource, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
}

// Tolerations returns those of a queue, as pods have them.
func Tolerations(q *v1alpha1.Queue) []corev1.Toleration {
	var all []corev1.Toleration
	for _, t := range q.Spec.Tolerations {
		all = append(all, corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return all
}
