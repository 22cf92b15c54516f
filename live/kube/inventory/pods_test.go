package inventory

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/oxgang/oxgang/model/cluster"
)

// list returns "cpu=1 memory=2Gi" as a list.
func list(text string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for f := range strings.FieldsSeq(text) {
		name, q, _ := strings.Cut(f, "=")
		l[corev1.ResourceName(name)] = resource.MustParse(q)
	}
	return l
}

func container(requests, limits string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(requests), Limits: list(limits)}}
}

func sidecar(requests string) corev1.Container {
	c := container(requests, "")
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

func TestRequest(t *testing.T) {
	for name, c := range map[string]struct {
		spec corev1.PodSpec
		want cluster.Resources
	}{
		"nothing": {},
		"containers add up": {
			corev1.PodSpec{Containers: []corev1.Container{container("cpu=1 memory=1Gi x/gpu=1", ""), container("cpu=500m x/gpu=2", "")}},
			cluster.Resources{GPUs: 3, CPUs: 1.5, Memory: 1 << 30},
		},
		"a limit is a request": {
			corev1.PodSpec{Containers: []corev1.Container{container("cpu=1", "cpu=4 memory=1Gi x/gpu=8")}},
			cluster.Resources{GPUs: 8, CPUs: 1, Memory: 1 << 30},
		},
		"init containers one by one": {
			corev1.PodSpec{
				InitContainers: []corev1.Container{container("cpu=3", ""), container("cpu=5 memory=1Gi", "")},
				Containers:     []corev1.Container{container("cpu=2 memory=4Gi", "")},
			},
			cluster.Resources{CPUs: 5, Memory: 4 << 30},
		},
		"sidecars run on, beside later init containers": {
			corev1.PodSpec{
				InitContainers: []corev1.Container{container("cpu=4", ""), sidecar("cpu=1"), container("cpu=4", "")},
				Containers:     []corev1.Container{container("cpu=2", "")},
			},
			cluster.Resources{CPUs: 5},
		},
		"sidecars and containers": {
			corev1.PodSpec{InitContainers: []corev1.Container{sidecar("cpu=1 memory=1Gi")}, Containers: []corev1.Container{container("cpu=2 memory=1Gi", "")}},
			cluster.Resources{CPUs: 3, Memory: 2 << 30},
		},
		"as a whole, and overhead": {
			corev1.PodSpec{
				Containers: []corev1.Container{container("cpu=2 memory=1Gi x/gpu=1", "")},
				Resources:  &corev1.ResourceRequirements{Requests: list("cpu=8"), Limits: list("memory=3Gi")},
				Overhead:   list("cpu=250m memory=1Gi"),
			},
			cluster.Resources{GPUs: 1, CPUs: 8.25, Memory: 4 << 30},
		},
		"too much, and below nothing": {
			corev1.PodSpec{Containers: []corev1.Container{container("cpu=1e18 memory=-5 x/gpu=9223372036854775807", ""), container("cpu=1e18 memory=7Ei x/gpu=9E", "")}},
			cluster.Resources{GPUs: MostGPUs, CPUs: MostCPUs, Memory: MostMemory},
		},
	} {
		if got := Request(&c.spec, "x/gpu"); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestTypeName(t *testing.T) {
	names := map[string]string{"NVIDIA-A100-SXM4-80GB": "a100", "bad": "no name"}
	for value, want := range map[string]cluster.GPUType{
		"NVIDIA-A100-SXM4-80GB": "a100", "NVIDIA-H100": "nvidia-h100", "Tesla_T4.1": "tesla_t4.1",
		"": "", "-x": "", "x-": "", "a b": "", "é": "", "bad": "", strings.Repeat("x", 64): "", strings.Repeat("x", 63): cluster.GPUType(strings.Repeat("x", 63)),
	} {
		if got := TypeName(value, names); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}
