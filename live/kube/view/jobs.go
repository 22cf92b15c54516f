package view

import (
	"cmp"
	"slices"
)

// A Job is a job of some plan.
type Job struct {
	Queue string `json:"queue"`
	Allocation
}

// Jobs returns the jobs of plans that are in a namespace, or in any if it is empty: by
// queue, then as the plans have them.
func Jobs(plans []Plan, namespace string) []Job {
	var all []Job
	for i := range plans {
		for _, a := range plans[i].Spec.Allocations {
			if namespace == "" || a.Namespace == namespace {
				all = append(all, Job{plans[i].Meta.Name, a})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.Queue, b.Queue) })
	return all
}

// A Node is what plans gave away of a node.
type Node struct {
	Name    string   `json:"name"`
	Queue   string   `json:"queue"`
	GPUType string   `json:"gpuType"`
	GPUs    int      `json:"gpus"`
	Jobs    []string `json:"jobs"` // namespace/name of each
}

// Nodes returns what a plan gave away, by name of the node.
func (p *Plan) Nodes() []Node {
	at := make(map[string]int)
	var all []Node
	for i := range p.Spec.Allocations {
		a := &p.Spec.Allocations[i]
		for _, s := range a.Nodes {
			n, ok := at[s.Name]
			if !ok {
				n, at[s.Name] = len(all), len(all)
				all = append(all, Node{Name: s.Name, Queue: p.Meta.Name, GPUType: a.GPUType})
			}
			all[n].GPUs += s.GPUs
			all[n].Jobs = append(all[n].Jobs, a.Namespace+"/"+a.Name)
		}
	}
	slices.SortFunc(all, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
