package jobadapter

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/pods"
)

// A jobSet is what is read of a JobSet.
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

// workers returns how many pods a replicated job has at once.
func (r *replicatedJob) workers() int {
	n := 1
	if r.Replicas != nil {
		n = int(*r.Replicas)
	}
	return n * atOnce(&r.Template.Spec)
}

// lookJobSet finds the shape of a JobSet: the pods of those of its replicated jobs that have GPUs.
// Their number and their requests are fixed, because no released version of JobSet allows them to
// be changed, suspended or not.
func lookJobSet(o *unstructured.Unstructured, gpu corev1.ResourceName) (*shape, error) {
	var j jobSet
	if err := decode(o.Object, &j); err != nil {
		return nil, fmt.Errorf("cannot be read as a JobSet: %w", err)
	}
	s := &shape{
		suspended: j.Spec.Suspend != nil && *j.Spec.Suspend,
		ended:     endedBy(o, "Completed", "Failed"),
		fixed:     "a JobSet's pods are fixed in number",
	}
	list, _ := child(o.Object, "spec")["replicatedJobs"].([]any)
	var names []string
	var without []*corev1.PodSpec
	for i := range j.Spec.ReplicatedJobs {
		r := &j.Spec.ReplicatedJobs[i]
		if pods.Request(&r.Template.Spec.Template.Spec, gpu).GPUs == 0 {
			without = append(without, &r.Template.Spec.Template.Spec)
			continue
		}
		if slices.ContainsFunc(names, func(n string) bool { return r.waitsFor(n) || j.Spec.StartupPolicy.inOrder() }) {
			return s, fmt.Errorf("replicated job %q starts after another that has GPUs, too, want all of them to start at once", r.Name)
		}
		names = append(names, r.Name)
		m, _ := list[i].(map[string]any)
		s.add(r.Template.Spec.Template, template(child(m, "template", "spec", "template")), r.workers())
	}
	if len(names) == 0 {
		return s, noGPUs(gpu, without...)
	}
	return s, s.alike(gpu)
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
