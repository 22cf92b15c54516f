package audit

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

func terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func gated(p *corev1.Pod) bool {
	return slices.Contains(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: v1alpha1.PlacementGate})
}

func bound(p *corev1.Pod) bool { return p.Spec.NodeName != "" && !terminal(p) }

func nodeOf(p *corev1.Pod) string {
	switch {
	case terminal(p):
		return ""
	case p.Spec.NodeName != "":
		return p.Spec.NodeName
	case len(p.Spec.SchedulingGates) > 0:
		return ""
	}
	return pinnedTo(p)
}

func pinnedTo(p *corev1.Pod) string {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	node := ""
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		n := fieldOf(term)
		if n == "" || node != "" && n != node {
			return ""
		}
		node = n
	}
	return node
}

func fieldOf(t corev1.NodeSelectorTerm) string {
	for _, f := range t.MatchFields {
		if f.Key == "metadata.name" && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
			return f.Values[0]
		}
	}
	return ""
}

type amounts map[corev1.ResourceName]int64

func amountsOf(l corev1.ResourceList) amounts {
	m := amounts{}
	for name, q := range l {
		m[name] = q.Value()
		if name == corev1.ResourceCPU {
			m[name] = q.MilliValue()
		}
	}
	return m
}

func (m amounts) add(o amounts) {
	for k, v := range o {
		m[k] += v
	}
}

func (m amounts) max(o amounts) {
	for k, v := range o {
		m[k] = max(m[k], v)
	}
}

func asks(p *corev1.Pod) amounts {
	sum, sidecars, start := amounts{}, amounts{}, amounts{}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		own := amountsOf(c.Resources.Requests)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars.add(own)
			own = amounts{}
		}
		own.add(sidecars)
		start.max(own)
	}
	for i := range p.Spec.Containers {
		sum.add(amountsOf(p.Spec.Containers[i].Resources.Requests))
	}
	sum.add(sidecars)
	sum.max(start)
	sum.add(amountsOf(p.Spec.Overhead))
	return sum
}

type run struct {
	uid        types.UID
	generation int64
}

func runOf(p *corev1.Pod) (run, bool) {
	uid, ok := p.Labels[v1alpha1.JobUID]
	g, err := strconv.ParseInt(p.Labels[v1alpha1.Generation], 10, 64)
	return run{types.UID(uid), g}, ok && err == nil
}
