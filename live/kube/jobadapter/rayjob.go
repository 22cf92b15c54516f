package jobadapter

import (
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/scheduler"
)

type rayJob struct {
	Spec struct {
		Suspend                  bool              `json:"suspend"`
		ShutdownAfterJobFinishes bool              `json:"shutdownAfterJobFinishes"`
		ClusterSelector          map[string]string `json:"clusterSelector"`
		RayClusterSpec           struct {
			EnableInTreeAutoscaling bool `json:"enableInTreeAutoscaling"`
			HeadGroupSpec           struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"headGroupSpec"`
			WorkerGroupSpecs []workerGroup `json:"workerGroupSpecs"`
		} `json:"rayClusterSpec"`
	} `json:"spec"`
	Status struct {
		JobStatus           string `json:"jobStatus"`
		JobDeploymentStatus string `json:"jobDeploymentStatus"`
		Reason              string `json:"reason"`
		Message             string `json:"message"`
	} `json:"status"`
}

type workerGroup struct {
	GroupName   string                 `json:"groupName"`
	Replicas    *int32                 `json:"replicas"`
	MinReplicas *int32                 `json:"minReplicas"`
	MaxReplicas *int32                 `json:"maxReplicas"`
	NumOfHosts  *int32                 `json:"numOfHosts"`
	Template    corev1.PodTemplateSpec `json:"template"`
}

func or(p *int32, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return int(*p)
}

func (g *workerGroup) workers() int {
	n := min(max(or(g.Replicas, 0), or(g.MinReplicas, 0)), or(g.MaxReplicas, math.MaxInt32))
	return n * max(1, or(g.NumOfHosts, 1))
}

// A RayJob can be sized while suspended if one worker group has GPUs, with one host per replica.
func lookRayJob(o *unstructured.Unstructured, gpu corev1.ResourceName) (*shape, error) {
	var j rayJob
	if err := decode(o.Object, &j); err != nil {
		return nil, fmt.Errorf("is not a valid RayJob: %w", err)
	}
	s := &shape{suspended: j.Spec.Suspend, ended: j.ended()}
	ray := &j.Spec.RayClusterSpec
	list, _ := child(o.Object, "spec", "rayClusterSpec")["workerGroupSpecs"].([]any)
	s.role("head", 1, &ray.HeadGroupSpec.Template, gpu)
	var groups []int
	var without []*corev1.PodSpec
	for i := range ray.WorkerGroupSpecs {
		g := &ray.WorkerGroupSpecs[i]
		s.role(g.GroupName, g.workers(), &g.Template, gpu)
		if inventory.Request(&g.Template.Spec, gpu).GPUs == 0 || g.workers() == 0 {
			without = append(without, &g.Template.Spec)
			continue
		}
		groups = append(groups, i)
		m, _ := list[i].(map[string]any)
		s.add(g.Template, template(child(m, "template")), g.workers())
	}
	if err := j.problem(gpu); err != nil {
		return s, err
	}
	if len(groups) == 0 {
		return s, noGPUs(gpu, without...)
	}
	if err := s.alike(gpu); err != nil {
		return s, err
	}
	g := &ray.WorkerGroupSpecs[groups[0]]
	if len(groups) > 1 || or(g.NumOfHosts, 1) > 1 {
		s.fixed = "it has several worker groups with GPUs, or several hosts per replica"
		return s, nil
	}
	m, _ := list[groups[0]].(map[string]any)
	s.size = func(n int) error { return sizeGroup(m, g, n) }
	return s, nil
}

func (j *rayJob) problem(gpu corev1.ResourceName) error {
	ray := &j.Spec.RayClusterSpec
	switch {
	case len(j.Spec.ClusterSelector) > 0:
		return errors.New("spec.clusterSelector names an existing cluster, want rayClusterSpec: KubeRay cannot suspend the RayJob otherwise")
	case !j.Spec.ShutdownAfterJobFinishes:
		return errors.New("spec.shutdownAfterJobFinishes is false, want true: KubeRay cannot suspend the RayJob otherwise")
	case ray.EnableInTreeAutoscaling:
		return errors.New("spec.rayClusterSpec.enableInTreeAutoscaling is true, want false: one scheduler chooses the number of workers")
	case inventory.Request(&ray.HeadGroupSpec.Template.Spec, gpu).GPUs > 0:
		return errors.New("its head requests GPUs, want them in one worker group")
	case j.Status.JobDeploymentStatus == "ValidationFailed":
		return errors.New("KubeRay rejects it: " + detail(j.Status.Reason, j.Status.Message))
	}
	return nil
}

func sizeGroup(m map[string]any, g *workerGroup, n int) error {
	if err := checkWorkers(n); err != nil {
		return err
	}
	m["replicas"] = int64(n)
	if or(g.MinReplicas, 0) > n {
		m["minReplicas"] = int64(n)
	}
	if or(g.MaxReplicas, math.MaxInt32) < n {
		m["maxReplicas"] = int64(n)
	}
	return nil
}

func (j *rayJob) ended() *Ending {
	e := &Ending{Outcome: scheduler.Failed, Detail: detail(j.Status.Reason, j.Status.Message)}
	switch {
	case j.Status.JobDeploymentStatus == "Failed":
	case j.Status.JobDeploymentStatus != "Complete":
		return nil
	case j.Status.JobStatus == "SUCCEEDED":
		e.Outcome = scheduler.Done
	case j.Status.JobStatus == "STOPPED":
		e.Outcome = scheduler.Cancelled
	}
	return e
}
