package inventory

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// worker is a pod as clusters have them: most of it is of no use here.
func worker() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "train-0", Namespace: "a", UID: "u", ResourceVersion: "7",
		Annotations:     map[string]string{"oxgang.dev/epoch": "3", "batch.kubernetes.io/job-completion-index": "0", "sidecar.istio.io/status": strings.Repeat("x", 2000)},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "j", Controller: new(true)}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(`"` + strings.Repeat("f", 1500) + `"`)}},
	}}
	limits := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2"), "cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi")}
	var env []corev1.EnvVar
	for range 40 {
		env = append(env, corev1.EnvVar{Name: "SOME_SETTING_OF_NCCL", Value: "a value of some length"})
	}
	c := corev1.Container{Name: "train", Image: "registry.example.com/train:1", Command: []string{"python", "train.py"}, Env: env, Resources: corev1.ResourceRequirements{Limits: limits, Requests: limits}}
	p.Spec = corev1.PodSpec{
		NodeName: "n1", NodeSelector: map[string]string{"gpu": "a100"}, Containers: []corev1.Container{c}, Volumes: []corev1.Volume{{Name: "data"}},
		InitContainers: []corev1.Container{{Name: "sidecar", Env: env, RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}},
		Affinity:       &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}}}}}}},
	}
	p.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "train", Image: "registry.example.com/train:1", ImageID: strings.Repeat("i", 200)}}, PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}},
	}
	return p
}

// size returns the bytes of an object as JSON.
func size(t *testing.T, o any) int {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

// What is kept of a pod says all that is asked of it, in a fifth of the bytes.
func TestSlim(t *testing.T) {
	const gpu = "nvidia.com/gpu"
	whole, p := worker(), worker()
	Slim(p)
	if a, b := Request(&whole.Spec, gpu), Request(&p.Spec, gpu); a != b || b.GPUs != 2 || b.CPUs != 5 {
		t.Errorf("it requests %v, want %v", b, a)
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"gpu": "a100"}}}
	if Node(p) != "n1" || Pinned(&p.Spec) != "n1" || !Allows(&p.Spec, n) || !slices.Equal(Keys(p), Keys(whole)) {
		t.Errorf("node %s, pinned %s, allowed %v, keys %v, want as before", Node(p), Pinned(&p.Spec), Allows(&p.Spec, n), Keys(p))
	}
	if len(p.Annotations) != 2 || !reflect.DeepEqual(p.OwnerReferences, whole.OwnerReferences) || !reflect.DeepEqual(p.Status.Conditions, whole.Status.Conditions) || p.Status.Phase != whole.Status.Phase {
		t.Errorf("%+v, want the annotations that are used, the owners and the state", p)
	}
	if before, after := size(t, whole), size(t, p); 5*after > before {
		t.Errorf("%d bytes of %d are kept, want a fifth at most", after, before)
	}
}

// The containers of a pod of a job are written back as a list: they stay whole.
func TestSlim_keeps_what_is_written(t *testing.T) {
	p := worker()
	p.Labels = map[string]string{v1alpha1.JobUID: "j"}
	want := worker().Spec
	if Slim(p); !reflect.DeepEqual(p.Spec.Containers, want.Containers) || !reflect.DeepEqual(p.Spec.InitContainers, want.InitContainers) {
		t.Errorf("containers %+v, want them whole", p.Spec.Containers)
	}
}

// Of a node mostly the images go.
func TestSlimNode(t *testing.T) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"gpu": "a100"}}, Spec: corev1.NodeSpec{Unschedulable: true}}
	n.Status.Allocatable = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for range 50 {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{strings.Repeat("n", 150)}})
	}
	want := n.DeepCopy()
	want.Status.Images = nil
	if SlimNode(n); !reflect.DeepEqual(n, want) {
		t.Errorf("%+v, want %+v", n, want)
	}
}

// Pods matter that may be of a job or ask for devices; of all it is known on which node they are.
func TestKeys(t *testing.T) {
	of := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{}
		p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}
		change(p)
		return p
	}
	device := corev1.ResourceList{"nvidia.com/mig-1g.10gb": resource.MustParse("1")}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want []string
	}{
		"one that only computes": {of(func(*corev1.Pod) {}), nil},
		"one on a node":          {of(func(p *corev1.Pod) { p.Spec.NodeName = "n" }), []string{"node/n"}},
		"one with a device":      {of(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = device }), []string{Matters}},
		"one that first needs a device": {of(func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: device}}}
		}), []string{Matters}},
		"one of a Job": {of(func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Controller: new(true)}}
		}), []string{Matters}},
		"one of a Deployment": {of(func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Controller: new(true)}}
		}), nil},
		"one that is marked": {of(func(p *corev1.Pod) { p.Labels = map[string]string{v1alpha1.JobUID: "u"} }), []string{Matters}},
	} {
		if got := Keys(c.pod); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
