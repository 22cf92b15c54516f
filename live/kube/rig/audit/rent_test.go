package audit

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// renting is a queue that may rent so many nodes of a group.
func renting(most int32) *v1alpha1.Queue {
	q := queue("team")
	q.Spec.NodeGroups = []v1alpha1.NodeGroup{{Name: "spot", NodeSelector: map[string]string{"pool": "spot"}, Most: most}}
	return q
}

// wants is a plan for so many nodes of it.
func wants(nodes int32) *v1alpha1.Plan {
	p := plan(1, 1)
	p.Spec.NodeGroups = []v1alpha1.PlannedGroup{{Name: "spot", Nodes: nodes}}
	return p
}

// let is a node of it.
func let(name string) *corev1.Node {
	n := node(name, 8)
	n.Labels = map[string]string{"pool": "spot"}
	return n
}
