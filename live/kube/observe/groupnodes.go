package observe

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/cluster"
)

// A GroupNode is a node of a rentable group, as last observed.
type GroupNode struct {
	Object *corev1.Node // must not be changed
	Held   bool         // has a live or pinned pod of the queue's jobs
	Bound  bool         // one of these pods is bound
	Usable bool
}

// Name returns the node's name.
func (l *GroupNode) Name() string { return l.Object.Name }

// Is reports whether n names this node.
func (l *GroupNode) Is(n v1alpha1.LeavingNode) bool { return n.UID == string(l.Object.UID) }

// Ref returns the node's name and uid, as in a plan.
func (l *GroupNode) Ref() v1alpha1.LeavingNode {
	return v1alpha1.LeavingNode{Name: l.Name(), UID: string(l.Object.UID)}
}

func (ob *Observer) groupNodes(nodes []*corev1.Node, s *Observation, usable []cluster.Node) map[string][]GroupNode {
	if len(ob.options.Queue.Spec.NodeGroups) == 0 {
		return nil
	}
	held, bound, can := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	ours := ob.IsOurs(s)
	for _, p := range s.AllPods {
		if ours(p) && !jobstate.Terminal(p) {
			held[inventory.Node(p)], bound[p.Spec.NodeName] = true, true
		}
	}
	for i := range usable {
		can[string(usable[i].ID)] = true
	}
	all := make(map[string][]GroupNode)
	for _, n := range nodes {
		if g := inventory.Group(ob.options.Queue.Spec.NodeGroups, n); g != nil {
			all[g.Name] = append(all[g.Name], GroupNode{n, held[n.Name], bound[n.Name], can[n.Name]})
		}
	}
	for _, of := range all {
		slices.SortFunc(of, func(a, b GroupNode) int {
			return cmp.Or(a.Object.CreationTimestamp.Compare(b.Object.CreationTimestamp.Time), cmp.Compare(a.Name(), b.Name()))
		})
	}
	return all
}
