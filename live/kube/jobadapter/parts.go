package jobadapter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// errNoGPUs says that a job has nothing that can be planned.
var errNoGPUs = errors.New("its pods ask for no GPUs")

// noGPUs returns why pods that ask for no whole GPUs cannot be planned: they ask for parts of
// GPUs, for claims, or for none.
func noGPUs(gpu corev1.ResourceName, all ...*corev1.PodSpec) error {
	for _, p := range all {
		if other := otherDevices(p); other != "" {
			return fmt.Errorf("its pods ask for %s, and only whole GPUs (%s) are planned: ask for these, or take the label %s off", other, gpu, v1alpha1.QueueLabel)
		}
	}
	return errNoGPUs
}

// otherDevices returns what a pod without whole GPUs asks for that may be a GPU, or a part of one;
// empty: nothing.
func otherDevices(p *corev1.PodSpec) string {
	for _, c := range slices.Concat(p.InitContainers, p.Containers) {
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
			if s := string(name); strings.Contains(s, "/mig-") || strings.Contains(s, "gpu") {
				return s
			}
		}
	}
	if len(p.ResourceClaims) > 0 {
		return "devices by resource claims"
	}
	return ""
}
