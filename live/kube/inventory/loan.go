package inventory

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Lend marks a node as lent to the queue, by a label and a taint. If queue is empty or another queue has the node, it
// returns an error and changes nothing.
func Lend(n *corev1.Node, queue string) error {
	to, lent := n.Labels[v1alpha1.LoanLabel]
	switch {
	case queue == "":
		return fmt.Errorf("node %s: lend: no queue, want the name of one", n.Name)
	case lent && to != queue:
		return fmt.Errorf("node %s: lend to %s: it is lent to %s, want it returned first", n.Name, queue, to)
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[v1alpha1.LoanLabel] = queue
	n.Spec.Taints = append(others(n), corev1.Taint{Key: v1alpha1.LoanTaint, Value: queue, Effect: corev1.TaintEffectNoSchedule})
	return nil
}

// Return removes the mark of Lend. If the node is not lent to the queue, or runs a pod of the queue, it returns an
// error and changes nothing.
func Return(n *corev1.Node, queue string, all []*corev1.Pod, ours func(*corev1.Pod) bool) error {
	if to, lent := n.Labels[v1alpha1.LoanLabel]; !lent || to != queue {
		return fmt.Errorf("node %s: return: it is lent to %q, want %q", n.Name, to, queue)
	}
	for _, p := range all {
		if Node(p) == n.Name && !ended(p) && ours(p) {
			return fmt.Errorf("node %s: return: our pod %s/%s is on it or pinned to it", n.Name, p.Namespace, p.Name)
		}
	}
	delete(n.Labels, v1alpha1.LoanLabel)
	n.Spec.Taints = others(n)
	return nil
}

func others(n *corev1.Node) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t corev1.Taint) bool { return t.Key == v1alpha1.LoanTaint })
}
