package jobadapter

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

// A Role is a group of a job's pods with one template: a replicated job of a JobSet, a group of a RayJob, or all
// workers of another kind. It omits the node and the flavor that Start has added.
type Role struct {
	Name  string // empty: the only one
	Pods  int
	GPUs  int            // of each pod
	Spec  corev1.PodSpec // only node selector, required node affinity and tolerations
	Apart bool           // kube-scheduler puts no two of its pods on one node
	Key   string         // equal for roles with equal Specs; empty: not computed
}

func (r *Role) constrained() bool {
	return r.Apart || len(r.Spec.NodeSelector) > 0 || r.Spec.Affinity != nil
}

func (r *Role) String() string {
	var by []string
	for _, k := range slices.Sorted(maps.Keys(r.Spec.NodeSelector)) {
		by = append(by, "nodeSelector "+k+"="+r.Spec.NodeSelector[k])
	}
	if r.Spec.Affinity != nil {
		by = append(by, "node affinity")
	}
	if r.Apart {
		by = append(by, "at most one on a node (podAntiAffinity or host ports)")
	}
	who := "its pods"
	if r.Name != "" {
		who = fmt.Sprintf("its pods of %q", r.Name)
	}
	return who + ": " + strings.Join(by, ", ")
}

func (s *shape) role(name string, pods int, t *corev1.PodTemplateSpec, gpu corev1.ResourceName) {
	s.roles = append(s.roles, role{name, pods, inventory.Request(&t.Spec, gpu).GPUs, t})
}

type role struct {
	name       string
	pods, gpus int
	template   *corev1.PodTemplateSpec
}

func (s *shape) constraints(o *unstructured.Unstructured) []Role {
	before, flavor := s.aimed(o), flavorOf(o)
	var all []Role
	for _, from := range s.roles {
		t := from.template
		r := Role{Name: from.name, Pods: from.pods, GPUs: from.gpus, Apart: from.pods > 1 && apart(o, t)}
		r.Spec.NodeSelector, r.Spec.Tolerations = unchosen(&t.Spec, flavor).NodeSelector, t.Spec.Tolerations
		terms := inventory.Terms(&t.Spec)
		if before != "" {
			terms = without(terms, before)
		}
		if len(terms) > 0 {
			r.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
			}}
		}
		if r.constrained() {
			if text, err := json.Marshal(&r.Spec); err == nil {
				r.Key = string(text)
			}
			all = append(all, r)
		}
	}
	return all
}

func apart(o *unstructured.Unstructured, t *corev1.PodTemplateSpec) bool {
	if slices.ContainsFunc(slices.Concat(t.Spec.InitContainers, t.Spec.Containers), hostPort) {
		return true
	}
	a := t.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return false
	}
	set := labels.Set{batchv1.JobNameLabel: o.GetName(), "job-name": o.GetName(), "jobset.sigs.k8s.io/jobset-name": o.GetName()}
	maps.Copy(set, t.Labels)
	return slices.ContainsFunc(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(term corev1.PodAffinityTerm) bool {
		covers, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		elsewhere := len(term.Namespaces) > 0 && !slices.Contains(term.Namespaces, o.GetNamespace())
		return err == nil && term.TopologyKey == corev1.LabelHostname && !elsewhere && covers.Matches(set)
	})
}

func hostPort(c corev1.Container) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort > 0 })
}

// controllers are the usual controllers' values of spec.managedBy.
var controllers = map[string]string{
	"Job": "kubernetes.io/job-controller", "JobSet": "jobset.sigs.k8s.io/jobset-controller",
	"TrainJob": "trainer.kubeflow.org/trainjob-controller", "RayJob": "ray.io/kuberay-operator",
}

// bypassed returns an error if a waiting job's pods would not be created or not be placed.
func (s *shape) bypassed(o *unstructured.Unstructured) error {
	if !s.suspended {
		return nil
	}
	if by, _ := child(o.Object, "spec")["managedBy"].(string); by != "" && by != controllers[o.GetKind()] {
		return fmt.Errorf("spec.managedBy is %q, so no controller of this cluster creates its pods: remove the field", by)
	}
	for _, r := range s.roles {
		if node := r.template.Spec.NodeName; node != "" {
			return fmt.Errorf("nodeName of its pods is %q, which bypasses all scheduling: remove it, or use a nodeSelector", node)
		}
		for _, g := range r.template.Spec.SchedulingGates {
			if g.Name != v1alpha1.PlacementGate && !strings.HasPrefix(g.Name, "kueue.x-k8s.io/") {
				return fmt.Errorf("schedulingGates of its pods has %q, so they would hold GPUs without a node: remove it, and suspend the job until it may start", g.Name)
			}
		}
	}
	return nil
}
