package execute

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

// PoolOf returns the state of group g of the lender's nodes, or nil.
func (ns *Nodes) PoolOf(g cluster.Group) *inventory.Pool {
	i := slices.IndexFunc(ns.Loans.pools, func(p inventory.Pool) bool { return p.Group == g })
	if i < 0 {
		return nil
	}
	return &ns.Loans.pools[i]
}

// Lent reports whether node id is on loan from its owner to the jobs of Oxgang, by the committed plan.
func (ns *Nodes) Lent(id cluster.NodeID) bool {
	_, lent := slices.BinarySearchFunc(ns.Table.Plan.Spec.Loans, string(id), NameOf)
	return lent
}

// NameOf compares the node name of loan l with name, for binary searches.
func NameOf(l v1alpha1.NodeLoan, name string) int { return strings.Compare(l.Name, name) }

// ByName compares loans by node name.
func ByName(a, b v1alpha1.NodeLoan) int { return strings.Compare(a.Name, b.Name) }

// A Transfer marks a node as lent, by a label and a taint, or removes the mark.
type Transfer struct {
	seen *corev1.Node
	next *corev1.Node
}

// Transfers returns the steps that mark borrowed nodes without pods of their owner, and unmark other nodes once no pod
// of the queue is or may still come there. It returns none until the watches show the last writes.
func (ns *Nodes) Transfers(s *observe.Observation) []Transfer {
	if !ns.Options.Acts() || time.Now().Before(ns.Loans.NotBefore) || len(ns.Writer.Unseen) > 0 {
		return nil
	}
	on := ns.onLoan()
	var all []Transfer
	for i := range s.Lender.Servers {
		n := &s.Lender.Servers[i]
		if _, lent := on[n.ID]; lent && n.Theirs == 0 {
			all = ns.appendTransfer(all, n.Object, func(o *corev1.Node) error { return inventory.Lend(o, ns.Options.Queue.Name) })
		}
	}
	for _, n := range s.Marked {
		if _, planned := slices.BinarySearchFunc(ns.Table.Plan.Spec.Loans, n.Name, NameOf); !planned && !ns.awaits(n.Name) {
			all = ns.appendTransfer(all, n, func(o *corev1.Node) error { return inventory.Return(o, ns.Options.Queue.Name, s.AllPods, ns.IsOurs(s)) })
		}
	}
	return all
}

func (ns *Nodes) awaits(node string) bool {
	return slices.ContainsFunc(ns.Table.Order, func(e *jobstate.Job) bool { return e.Parsed.Node == node && (e.Stale() || e.Coming() > 0) })
}

func (ns *Nodes) appendTransfer(all []Transfer, n *corev1.Node, change func(*corev1.Node) error) []Transfer {
	next := n.DeepCopy()
	if change(next) != nil || equality.Semantic.DeepEqual(next, n) {
		return all
	}
	return append(all, Transfer{n, next})
}

// MarkNode writes a Transfer, with retries.
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
