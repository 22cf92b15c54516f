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

var errNoGPUs = errors.New("its pods request no GPUs")

func noGPUs(gpu corev1.ResourceName, all ...*corev1.PodSpec) error {
	for _, p := range all {
		if other := otherDevices(p); other != "" {
			return fmt.Errorf("its pods request %s, but only whole GPUs (%s) are scheduled: request these, or remove the label %s", other, gpu, v1alpha1.QueueLabel)
		}
	}
	return errNoGPUs
}

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
