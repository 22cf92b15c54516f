package inventory

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestQoS(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		l := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
		for name, q := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
			if q != "" {
				l[name] = resource.MustParse(q)
			}
		}
		return l
	}
	one := func(requests, limits corev1.ResourceList) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
	}
	whole := one(list("1", "1Gi"), list("1", "1Gi"))
	for _, c := range []struct {
		name string
		init []corev1.Container
		all  []corev1.Container
		want corev1.PodQOSClass
	}{
		{"GPUs only", nil, []corev1.Container{one(list("", ""), list("", ""))}, corev1.PodQOSBestEffort},
		{"requests are limits", nil, []corev1.Container{whole, whole}, corev1.PodQOSGuaranteed},
		{"limits only", nil, []corev1.Container{one(nil, list("1", "1Gi"))}, corev1.PodQOSGuaranteed},
		{"one container says nothing", nil, []corev1.Container{whole, one(nil, nil)}, corev1.PodQOSBurstable},
		{"an init container says nothing", []corev1.Container{one(nil, nil)}, []corev1.Container{whole}, corev1.PodQOSBurstable},
		{"no memory", nil, []corev1.Container{one(list("1", ""), list("1", ""))}, corev1.PodQOSBurstable},
		{"a request below its limit", nil, []corev1.Container{one(list("1", "1Gi"), list("2", "1Gi"))}, corev1.PodQOSBurstable},
	} {
		if got := QoS(&corev1.PodSpec{InitContainers: c.init, Containers: c.all}); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
