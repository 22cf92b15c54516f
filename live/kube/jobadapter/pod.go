package jobadapter

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

// A Key identifies the object of a job.
type Key struct{ Kind, Namespace, Name string }

const raySuffix = 6

// RayJobOf returns the name of the RayJob that created the given RayCluster; made is false if none can have.
func RayJobOf(cluster string) (name string, made bool) {
	at := len(cluster) - raySuffix
	if at < 1 || cluster[at] != '-' {
		return "", false
	}
	return cluster[:at], true
}

// Gated reports whether a pod has the PlacementGate: it waits until Pin assigns a node.
func Gated(p *corev1.Pod) bool {
	return holds(p.Spec.SchedulingGates)
}

// Pin assigns a node to a gated pod: it adds the node to the pod's required affinity, records the epoch, and removes
// the PlacementGate. If p is not gated, is bound, or must be on another node, it changes nothing and returns an error.
func Pin(p *corev1.Pod, node string, epoch int64) error {
	switch {
	case node == "":
		return fmt.Errorf("pod %s/%s: pin: no node, want the name of one", p.Namespace, p.Name)
	case p.Spec.NodeName != "":
		return fmt.Errorf("pod %s/%s: pin: it is bound to %s, want it gated", p.Namespace, p.Name, p.Spec.NodeName)
	case !Gated(p):
		return fmt.Errorf("pod %s/%s: pin: it has no gate %s, want it gated", p.Namespace, p.Name, v1alpha1.PlacementGate)
	}
	terms, possible := narrowed(inventory.Terms(&p.Spec), node)
	if !possible {
		return fmt.Errorf("pod %s/%s: pin to %s: its node affinity allows other nodes only", p.Namespace, p.Name, node)
	}
	setTerms(p, terms)
	p.Spec.SchedulingGates = slices.DeleteFunc(slices.Clone(p.Spec.SchedulingGates), func(g corev1.PodSchedulingGate) bool { return g.Name == v1alpha1.PlacementGate })
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[v1alpha1.Epoch] = strconv.FormatInt(epoch, 10)
	return nil
}

// narrowed adds the node to a copy of each term, because the API server only accepts a narrower affinity. An empty term
// matches no node and stays empty.
func narrowed(terms []corev1.NodeSelectorTerm, node string) (all []corev1.NodeSelectorTerm, possible bool) {
	here := called(node)
	if len(terms) == 0 {
		return []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{here}}}, true
	}
	all = slices.Clone(terms)
	for i := range all {
		t := &all[i]
		if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
			continue
		}
		possible = possible || !slices.ContainsFunc(t.MatchFields, func(r corev1.NodeSelectorRequirement) bool { return !inventory.Meets(&r, node) })
		if !slices.ContainsFunc(t.MatchFields, func(r corev1.NodeSelectorRequirement) bool { return equalRequirement(&r, &here) }) {
			t.MatchFields = append(slices.Clip(t.MatchFields), here)
		}
	}
	return all, possible
}

func equalRequirement(a, b *corev1.NodeSelectorRequirement) bool {
	return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
}

func setTerms(p *corev1.Pod, terms []corev1.NodeSelectorTerm) {
	a, n := corev1.Affinity{}, corev1.NodeAffinity{}
	if p.Spec.Affinity != nil {
		a = *p.Spec.Affinity
	}
	if a.NodeAffinity != nil {
		n = *a.NodeAffinity
	}
	n.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	a.NodeAffinity = &n
	p.Spec.Affinity = &a
}
