package inventory

import corev1 "k8s.io/api/core/v1"

// QoS returns a pod's quality of service class; a missing request counts as its limit.
func QoS(spec *corev1.PodSpec) corev1.PodQOSClass {
	guaranteed, asks := true, false
	for _, all := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range all {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, limit := Either(&all[i].Resources, name), all[i].Resources.Limits[name]
				asks = asks || request.Sign() > 0
				guaranteed = guaranteed && limit.Sign() > 0 && limit.Cmp(request) == 0
			}
		}
	}
	switch {
	case !asks:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
