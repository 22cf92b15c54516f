package inventory

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
)

// A Lender has the nodes of another owner, for example of inference servers, who lends idle nodes. It is immutable.
type Lender struct {
	Servers []Server // sorted by name
	Wants   []want   // oldest first
}

// A Server is a lender's node with GPUs, lent or not.
type Server struct {
	cluster.Node // at full capacity
	Object       *corev1.Node
	Open         bool // new pods of the queue may come
	Theirs       int  // GPUs of the owner's pods
}

func (s *Server) lentTo() string { return s.Object.Labels[v1alpha1.LoanLabel] }

// ByID returns the lender's nodes by ID.
func (l *Lender) ByID() map[cluster.NodeID]*Server {
	all := make(map[cluster.NodeID]*Server, len(l.Servers))
	for i := range l.Servers {
		all[l.Servers[i].ID] = &l.Servers[i]
	}
	return all
}

// A want is a lender's waiting pod that one of the lender's nodes could run.
type want struct {
	UID  types.UID
	GPUs int
	pod  *corev1.Pod
}

// Survey returns the state of the lender's nodes, empty without a lender. It takes time linear in nodes and pods, plus
// waiting pods of the lender times its nodes.
func Survey(nodes []*corev1.Node, all []*corev1.Pod, ours func(*corev1.Pod) bool, o *Options) Lender {
	var l Lender
	if len(o.Lender) == 0 {
		return l
	}
	gpu := corev1.ResourceName(o.GPUResource)
	theirs := make(map[string]int)
	for _, p := range all {
		if ended(p) || ours(p) {
			continue
		}
		if n := Request(&p.Spec, gpu).GPUs; n > 0 && p.Spec.NodeName != "" {
			theirs[p.Spec.NodeName] += n
		} else if n > 0 && noRoom(p) {
			l.Wants = append(l.Wants, want{p.UID, n, p})
		}
	}
	for _, n := range nodes {
		if has := List(n.Status.Allocatable, gpu); has.GPUs > 0 && o.lenders(n) {
			l.Servers = append(l.Servers, Server{o.node(n, has), n, o.open(n), theirs[n.Name]})
		}
	}
	slices.SortFunc(l.Servers, func(a, b Server) int { return cmp.Compare(a.ID, b.ID) })
	l.Wants = slices.DeleteFunc(l.Wants, func(w want) bool {
		return !slices.ContainsFunc(l.Servers, func(s Server) bool { return w.fits(&s) })
	})
	slices.SortFunc(l.Wants, func(a, b want) int {
		return cmp.Or(a.pod.CreationTimestamp.Compare(b.pod.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	return l
}

func (o *Options) open(n *corev1.Node) bool {
	to, lent := n.Labels[v1alpha1.LoanLabel]
	return o.usable(n) && !o.closed(n) && (!lent || to == o.Queue)
}

func noRoom(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && p.Status.NominatedNodeName == "" && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

func (w *want) fits(s *Server) bool {
	return w.GPUs <= s.Capacity.GPUs && Allows(&w.pod.Spec, s.Object)
}
