package view

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// An Observed is what exists of a job, whatever a plan has for it.
type Observed struct {
	Pods  int     `json:"pods"`  // of its workers, that have not ended
	Ready int     `json:"ready"` // of these, that run
	GPUs  int     `json:"gpus"`  // of these
	Nodes []Share `json:"nodes,omitempty"`
	// Since is when the last of its pods was made; zero: not known.
	Since time.Time `json:"since,omitzero"`
}

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

// add counts a pod.
func (o *Observed) add(p *pod, gpus int) {
	o.Pods++
	if p.Meta.Created.After(o.Since) {
		o.Since = p.Meta.Created
	}
	if !p.runs() {
		return
	}
	o.Ready++
	o.GPUs += gpus
	i, there := slices.BinarySearchFunc(o.Nodes, p.Spec.NodeName, func(s Share, name string) int { return cmp.Compare(s.Name, name) })
	if !there {
		o.Nodes = slices.Insert(o.Nodes, i, Share{Name: p.Spec.NodeName})
	}
	o.Nodes[i].GPUs += gpus
}
