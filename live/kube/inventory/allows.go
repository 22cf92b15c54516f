package inventory

import (
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Accepts reports whether kube-scheduler may bind pod p to node n, by node selector, required affinity and taints.
// Tolerations of p and of o count.
func (o *Options) Accepts(p *corev1.PodSpec, n *corev1.Node) bool {
	return Allows(p, n) && !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && o.keepsOff(&t) && !slices.ContainsFunc(p.Tolerations, func(of corev1.Toleration) bool {
			return of.ToleratesTaint(logr.Discard(), &t, false)
		})
	})
}

// Allows reports whether a pod's nodeSelector and required node affinity match a node.
func Allows(p *corev1.PodSpec, n *corev1.Node) bool {
	for k, v := range p.NodeSelector {
		if got, ok := n.Labels[k]; !ok || got != v {
			return false
		}
	}
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil || p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	return slices.ContainsFunc(Terms(p), func(t corev1.NodeSelectorTerm) bool { return matches(n, &t) })
}

var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
	corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

func matches(n *corev1.Node, t *corev1.NodeSelectorTerm) bool {
	if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
		return false
	}
	for i := range t.MatchExpressions {
		e := &t.MatchExpressions[i]
		r, err := labels.NewRequirement(e.Key, operators[e.Operator], e.Values)
		if err != nil || !r.Matches(labels.Set(n.Labels)) {
			return false
		}
	}
	return !slices.ContainsFunc(t.MatchFields, func(r corev1.NodeSelectorRequirement) bool { return !Meets(&r, n.Name) })
}
