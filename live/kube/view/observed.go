package view

import "strconv"

// A pod is what is read of a pod.
type pod struct {
	Meta Meta `json:"metadata"`
	Spec struct {
		NodeName   string      `json:"nodeName"`
		Containers []container `json:"containers"`
		Inits      []container `json:"initContainers"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// A container is what is read of one.
type container struct {
	Resources struct {
		Limits map[string]string `json:"limits"`
	} `json:"resources"`
}

// gpus returns how many GPUs a pod asks for.
func (p *pod) gpus(resource string) int {
	n, first := 0, 0
	for i := range p.Spec.Containers {
		n += whole(p.Spec.Containers[i].Resources.Limits[resource])
	}
	for i := range p.Spec.Inits {
		first = max(first, whole(p.Spec.Inits[i].Resources.Limits[resource]))
	}
	return max(n, first)
}

// whole returns a number of GPUs; 0: there is none.
func whole(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return max(0, n)
}

// ended reports whether a pod uses nothing any more.
func (p *pod) ended() bool { return p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" }

// runs reports whether a pod runs, and goes on.
func (p *pod) runs() bool { return p.Status.Phase == "Running" && p.Meta.Deleted == nil }
