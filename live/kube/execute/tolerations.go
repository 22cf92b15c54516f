package execute

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// podTolerations returns the tolerations of the queue's pods, including, if the queue borrows nodes, the taint of a
// loan and a taint of GPU nodes.
func podTolerations(o *jobstate.Options) []corev1.Toleration {
	all := Tolerations(o.Queue)
	if o.Queue.Spec.Loans == nil {
		return all
	}
	return append(all,
		corev1.Toleration{Key: v1alpha1.LoanTaint, Operator: corev1.TolerationOpEqual, Value: o.Queue.Name, Effect: corev1.TaintEffectNoSchedule},
		corev1.Toleration{Key: o.Nodes.GPUResource, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
}

// Tolerations converts a queue's tolerations into tolerations of pods.
func Tolerations(q *v1alpha1.Queue) []corev1.Toleration {
	var all []corev1.Toleration
	for _, t := range q.Spec.Tolerations {
		all = append(all, corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return all
}
