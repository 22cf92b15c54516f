package jobadapter

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/inventory"
)

const (
	// trainManager is the manager name of Oxgang's entry in a TrainJob's runtimePatches.
	trainManager = "oxgang.dev/scheduler"
	trainNode    = "node"
)

type trainJob struct {
	Spec struct {
		Suspend *bool `json:"suspend"`
		Trainer struct {
			NumNodes         *int32                       `json:"numNodes"`
			ResourcesPerNode *corev1.ResourceRequirements `json:"resourcesPerNode"`
		} `json:"trainer"`
	} `json:"spec"`
}

// The runtime is not read, so the TrainJob must state its number of nodes and their resources.
func lookTrainJob(o *unstructured.Unstructured, gpu corev1.ResourceName) (*shape, error) {
	var j trainJob
	if err := decode(o.Object, &j); err != nil {
		return nil, fmt.Errorf("is not a valid TrainJob: %w", err)
	}
	s := &shape{
		suspended: j.Spec.Suspend != nil && *j.Spec.Suspend,
		ended:     endedBy(o, "Complete", "Failed"),
		fixed:     "spec.trainer of a TrainJob is immutable",
	}
	pod, err := patched(o)
	if err != nil {
		return nil, err
	}
	t := &j.Spec.Trainer
	if t.ResourcesPerNode != nil {
		pod.Spec.Containers = []corev1.Container{{Name: trainNode, Resources: *t.ResourcesPerNode}}
	}
	s.pod = *pod
	s.templates = func() []template { return []template{ourPatch(o)} }
	switch {
	case inventory.Request(&pod.Spec, gpu).GPUs == 0 && otherDevices(&pod.Spec) != "":
		return s, noGPUs(gpu, &pod.Spec)
	case inventory.Request(&pod.Spec, gpu).GPUs == 0:
		return s, errors.New("spec.trainer.resourcesPerNode has no GPUs, want the GPUs of a node: Oxgang does not read its runtime")
	case t.NumNodes == nil:
		return s, errors.New("spec.trainer.numNodes is missing: Oxgang does not read its runtime")
	case stuck(o):
		return s, fmt.Errorf("spec.trainer.resourcesPerNode has numbers without quotes, so Trainer rejects new runtimePatches: add quotes, or submit the job with an entry of %s in runtimePatches", trainManager)
	}
	s.workers = int(*t.NumNodes)
	s.role("", s.workers, &s.pod, gpu)
	return s, nil
}

// stuck reports whether Trainer rejects new runtimePatches: its webhook then also quotes quantities, which its CRD
// rejects as a change.
func stuck(o *unstructured.Unstructured) bool {
	if all, _ := child(o.Object, "spec")["runtimePatches"].([]any); len(all) > 0 {
		return false
	}
	for _, list := range []string{"requests", "limits"} {
		for _, q := range child(o.Object, "spec", "trainer", "resourcesPerNode", list) {
			if _, ok := q.(string); !ok {
				return true
			}
		}
	}
	return false
}

func patched(o *unstructured.Unstructured) (*corev1.PodTemplateSpec, error) {
	pod := &corev1.PodTemplateSpec{}
	all, _ := child(o.Object, "spec")["runtimePatches"].([]any)
	for _, p := range all {
		m, _ := p.(map[string]any)
		t, ok := trainerPatch(m)
		if !ok {
			continue
		}
		one, err := t.spec()
		if err != nil {
			return nil, fmt.Errorf("runtimePatches: %w", err)
		}
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		maps.Copy(pod.Spec.NodeSelector, one.Spec.NodeSelector)
		if one.Spec.TerminationGracePeriodSeconds != nil {
			pod.Spec.TerminationGracePeriodSeconds = one.Spec.TerminationGracePeriodSeconds
		}
		if m["manager"] == trainManager {
			pod.Labels = one.Labels
		}
	}
	return pod, nil
}

func trainerPatch(patch map[string]any) (template, bool) {
	jobs, _ := child(patch, "trainingRuntimeSpec", "template", "spec")["replicatedJobs"].([]any)
	r := named(jobs, "name", trainNode)
	t := child(r, "template", "spec", "template")
	return template(t), t != nil
}

func ourPatch(o *unstructured.Unstructured) template {
	ours := entry(grow(o.Object, "spec"), "runtimePatches", "manager", trainManager)
	r := entry(grow(ours, "trainingRuntimeSpec", "template", "spec"), "replicatedJobs", "name", trainNode)
	return template(grow(r, "template", "spec", "template"))
}

func named(list []any, key, value string) map[string]any {
	for _, one := range list {
		if m, ok := one.(map[string]any); ok && m[key] == value {
			return m
		}
	}
	return nil
}

func entry(m map[string]any, list, key, value string) map[string]any {
	all, _ := m[list].([]any)
	one := named(all, key, value)
	if one == nil {
		one = map[string]any{key: value}
		m[list] = append(slices.Clip(all), any(one))
	}
	return one
}
