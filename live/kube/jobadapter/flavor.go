package jobadapter

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Kueue charges a job to the first flavor with quota that its pods allow. So Start adds the node labels of the
// planned GPU type to their selector first.

func flavorOf(o *unstructured.Unstructured) map[string]string {
	var a asked
	if json.Unmarshal([]byte(o.GetAnnotations()[v1alpha1.Asked]), &a) != nil {
		return nil
	}
	return a.Flavor
}

func choose(all []template, before, flavor map[string]string) map[string]string {
	added := maps.Clone(flavor)
	for _, t := range all {
		selector := child(t, "spec", "nodeSelector")
		for k, v := range before {
			if selector[k] == v {
				delete(selector, k)
			}
		}
		for k := range selector {
			delete(added, k)
		}
	}
	for _, t := range all {
		t.add(added)
	}
	return added
}

func (t template) add(labels map[string]string) {
	for k, v := range labels {
		grow(t, "spec", "nodeSelector")[k] = v
	}
}

func unchosen(p *corev1.PodSpec, flavor map[string]string) *corev1.PodSpec {
	if len(flavor) == 0 {
		return p
	}
	own := *p
	own.NodeSelector = maps.Clone(p.NodeSelector)
	maps.DeleteFunc(own.NodeSelector, func(k, v string) bool { return flavor[k] == v })
	return &own
}
