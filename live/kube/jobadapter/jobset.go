package jobadapter

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/inventory"
)

type jobSet struct {
	Spec struct {
		Suspend        *bool           `json:"suspend"`
		StartupPolicy  *startupPolicy  `json:"startupPolicy"`
		ReplicatedJobs []replicatedJob `json:"replicatedJobs"`
	} `json:"spec"`
}

type startupPolicy struct {
	StartupPolicyOrder string `json:"startupPolicyOrder"`
}

type replicatedJob struct {
	Name      string                  `json:"name"`
	Replicas  *int32                  `json:"replicas"`
	Template  batchv1.JobTemplateSpec `json:"template"`
	DependsOn []struct {
		Name string `json:"name"`
	} `json:"dependsOn"`
}

func (r *replicatedJob) workers() int {
	n := 1
	if r.Replicas != nil {
		n = int(*r.Replicas)
	}
	return n * atOnce(&r.Template.Spec)
}

// A JobSet can be sized only with its feature gate ElasticJobSet.
func lookJobSet(o *unstructured.Unstructured, gpu corev1.ResourceName, elastic bool) (*shape, error) {
	var j jobSet
	if err := decode(o.Object, &j); err != nil {
		return nil, fmt.Errorf("is not a valid JobSet: %w", err)
	}
	s := &shape{
		suspended: j.Spec.Suspend != nil && *j.Spec.Suspend,
		ended:     endedBy(o, "Completed", "Failed"),
	}
	list, _ := child(o.Object, "spec")["replicatedJobs"].([]any)
	var names []string
	var without []*corev1.PodSpec
	var last int
	for i := range j.Spec.ReplicatedJobs {
		r := &j.Spec.ReplicatedJobs[i]
		s.role(r.Name, r.workers(), &r.Template.Spec.Template, gpu)
		if inventory.Request(&r.Template.Spec.Template.Spec, gpu).GPUs == 0 {
			without = append(without, &r.Template.Spec.Template.Spec)
			continue
		}
		if slices.ContainsFunc(names, func(n string) bool { return r.waitsFor(n) || j.Spec.StartupPolicy.inOrder() }) {
			return s, fmt.Errorf("replicated job %q starts after another one with GPUs, want all of them to start at once", r.Name)
		}
		names, last = append(names, r.Name), i
		m, _ := list[i].(map[string]any)
		s.add(r.Template.Spec.Template, template(child(m, "template", "spec", "template")), r.workers())
	}
	if len(names) == 0 {
		return s, noGPUs(gpu, without...)
	}
	s.keeps = slices.ContainsFunc(j.Spec.ReplicatedJobs, func(r replicatedJob) bool { return keepsSize(&r.Template.Spec) })
	if s.fixed = j.rigid(len(names), last, elastic, o.GetLabels()[kueueQueue] != ""); s.fixed == "" && !s.keeps {
		m, _ := list[last].(map[string]any)
		s.size = func(n int) error { return sizeJob(child(m, "template", "spec"), n) }
	}
	return s, s.alike(gpu)
}

// rigid returns why the size is fixed, or "". n replicated jobs have GPUs, the last at index last.
func (j *jobSet) rigid(n, last int, elastic, kueue bool) string {
	r := &j.Spec.ReplicatedJobs[last]
	switch {
	case !elastic:
		return "JobSet runs without its feature gate ElasticJobSet (see elasticJobSets of the ClusterPolicy)"
	case kueue:
		return "Kueue does not allow to resize JobSets"
	case n > 1 || or(r.Replicas, 1) != 1:
		return "several of its replicated jobs or replicas have GPUs"
	}
	return rigid(&r.Template.Spec)
}

func (r *replicatedJob) waitsFor(name string) bool {
	for _, d := range r.DependsOn {
		if d.Name == name {
			return true
		}
	}
	return false
}

func (p *startupPolicy) inOrder() bool { return p != nil && p.StartupPolicyOrder == "InOrder" }
