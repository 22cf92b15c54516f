package nodepool

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
)

// This file is how nodes come on loan, and go back: by the plan first, and then by their marks.

// PoolOf returns the lender's nodes of a group; nil: it has none.
func (ns *Nodes) PoolOf(g cluster.Group) *inventory.Pool {
	i := slices.IndexFunc(ns.Loans.pools, func(p inventory.Pool) bool { return p.Group == g })
	if i < 0 {
		return nil
	}
	return &ns.Loans.pools[i]
}

// Lent reports whether the committed plan has a node on loan.
func (ns *Nodes) Lent(id cluster.NodeID) bool {
	_, lent := slices.BinarySearchFunc(ns.Table.Plan.Spec.Loans, string(id), NameOf)
	return lent
}

// NameOf compares the node of a loan with a name, for searches in a sorted list.
func NameOf(l v1alpha1.NodeLoan, name string) int { return strings.Compare(l.Name, name) }

// ByName compares loans by the names of their nodes.
func ByName(a, b v1alpha1.NodeLoan) int { return strings.Compare(a.Name, b.Name) }

// A Transfer is a node that is to be marked as lent, or as its owner's.
type Transfer struct {
	seen *corev1.Node
	next *corev1.Node
}

// Transfers returns what is to be written to nodes: those on loan are marked, unless pods of
// their owner have come there meanwhile, and others with our mark lose it once no pod of ours
// is on them, pinned to them, or may yet come there. As long as a watch does not show what was
// last written, nothing is.
func (ns *Nodes) Transfers(s *observe.Observation) []Transfer {
	if !ns.Options.Acts() || time.Now().Before(ns.Loans.NotBefore) || len(ns.Writer.Unseen) > 0 {
		return nil
	}
	on := ns.OnLoan()
	var all []Transfer
	for i := range s.Lender.Servers {
		n := &s.Lender.Servers[i]
		if _, lent := on[n.ID]; lent && n.Theirs == 0 {
			all = ns.appendTransfer(all, n.Object, func(o *corev1.Node) error { return inventory.Lend(o, ns.Options.Queue.Name) })
		}
	}
	for _, n := range s.Marked {
		if _, planned := slices.BinarySearchFunc(ns.Table.Plan.Spec.Loans, n.Name, NameOf); !planned && !ns.awaits(n.Name) {
			all = ns.appendTransfer(all, n, func(o *corev1.Node) error { return ns.returned(o, s) })
		}
	}
	return all
}

// awaits reports whether pods of a job may yet come to a node that its object names, though the
// job is stopped.
func (ns *Nodes) awaits(node string) bool {
	return slices.ContainsFunc(ns.Table.Order, func(e *jobstate.Job) bool { return e.Parsed.Node == node && (e.Stale() || e.Coming() > 0) })
}

// returned makes a node its owner's again, or returns an error that says who is there. Pods of
// ours are also those whose job is gone, or has opted out.
func (ns *Nodes) returned(n *corev1.Node, s *observe.Observation) error {
	return inventory.Return(n, ns.Options.Queue.Name, s.AllPods, ns.IsOurs(s))
}

// appendTransfer appends what change makes of a node, if it can be done and changes it.
func (ns *Nodes) appendTransfer(all []Transfer, n *corev1.Node, change func(*corev1.Node) error) []Transfer {
	next := n.DeepCopy()
	if change(next) != nil || equality.Semantic.DeepEqual(next, n) {
		return all
	}
	return append(all, Transfer{n, next})
}

// MarkNode writes to a node. What fails is tried again later, and later each time.
func (ns *Nodes) MarkNode(ctx context.Context, t *Transfer) {
	err := ns.Writer.Patch(ctx, t.next, t.seen)
	ns.Mu.Lock()
	defer ns.Mu.Unlock()
	switch {
	case err == nil:
		ns.Loans.Retry = jobstate.Retry{}
	case ctx.Err() == nil:
		ns.Loans.FailFor(time.Now(), err)
		ns.Options.Log.LogAttrs(ctx, slog.LevelWarn, "a node was not marked", slog.String("queue", ns.Options.Queue.Name), slog.String("node", t.seen.Name), slog.Any("err", err))
	}
}
