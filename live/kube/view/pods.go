package view

import "strconv"

type pod struct {
	Meta meta `json:"metadata"`
	Spec struct {
		NodeName   string      `json:"nodeName"`
		Containers []container `json:"containers"`
		Inits      []container `json:"initContainers"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

type container struct {
	Resources struct {
		Limits map[string]string `json:"limits"`
	} `json:"resources"`
}

func (p *pod) gpus(resource string) int {
	n, first := 0, 0
	for i := range p.Spec.Containers {
		n += parseGPUs(p.Spec.Containers[i].Resources.Limits[resource])
	}
	for i := range p.Spec.Inits {
		first = max(first, parseGPUs(p.Spec.Inits[i].Resources.Limits[resource]))
	}
	return max(n, first)
}

func parseGPUs(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return max(0, n)
}

func (p *pod) ended() bool { return p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" }

func (p *pod) runs() bool { return p.Status.Phase == "Running" && p.Meta.Deleted == nil }
