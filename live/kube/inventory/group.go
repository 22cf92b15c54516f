package inventory

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
)

// Group returns the first group whose selector matches node n, or nil.
func Group(groups []v1alpha1.NodeGroup, n *corev1.Node) *v1alpha1.NodeGroup {
	i := slices.IndexFunc(groups, func(g v1alpha1.NodeGroup) bool { return Selects(g.NodeSelector, n) })
	if i < 0 {
		return nil
	}
	return &groups[i]
}

// Offer converts a group of rentable nodes into an offer for the scheduler.
func Offer(g *v1alpha1.NodeGroup) cluster.Offer {
	n := cluster.Node{
		GPUType: cluster.GPUType(g.GPUType), Tenure: cluster.Rented, Group: cluster.Group(g.Name), Price: price(g),
		Capacity: cluster.Resources{GPUs: int(g.GPUs), CPUs: float64(g.MilliCPUs) / 1000, Memory: g.MemoryBytes},
	}
	return cluster.Offer{Group: n.Group, Node: n, Most: int(g.Most)}
}

func price(g *v1alpha1.NodeGroup) cluster.Price {
	return cluster.Price(float64(g.PriceMilliPerHour) / 1000 / float64(max(1, g.GPUs)))
}

func (o *Options) setRented(one *cluster.Node, n *corev1.Node) {
	if g := Group(o.Groups, n); g != nil {
		one.Tenure, one.Group, one.Price = cluster.Rented, cluster.Group(g.Name), price(g)
	}
}

// Leave adds the taint that marks a rented node as leaving the queue, and reports whether the node changed.
func Leave(n *corev1.Node, queue string) bool {
	if Leaving(n) {
		return false
	}
	n.Spec.Taints = append(slices.Clip(n.Spec.Taints), corev1.Taint{Key: v1alpha1.LeavingTaint, Value: queue, Effect: corev1.TaintEffectNoSchedule})
	return true
}

// Stay removes the taint of Leave.
func Stay(n *corev1.Node) bool {
	if !Leaving(n) {
		return false
	}
	n.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), isLeaving)
	return true
}

// Leaving reports whether a rented node is being returned: it has the taint oxgang.dev/leaving.
func Leaving(n *corev1.Node) bool { return slices.ContainsFunc(n.Spec.Taints, isLeaving) }

func isLeaving(t corev1.Taint) bool { return t.Key == v1alpha1.LeavingTaint }
