package jobstate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/model/cluster"
)

// An Observed is what exists of a job, whatever a plan has for it.
type Observed struct {
	Suspended bool
	Pods      int            // of its workers, that have not ended
	Ready     int            // of these, that run
	GPUs      map[string]int // of these, by node
}

// ObservedOf returns what exists of a job; pods are its workers.
func ObservedOf(j *jobadapter.Job, pods []*corev1.Pod) Observed {
	o := Observed{Suspended: j.Suspended, GPUs: make(map[string]int)}
	for _, p := range pods {
		if Terminal(p) {
			continue
		}
		o.Pods++
		if Ready(p) {
			o.Ready++
			o.GPUs[p.Spec.NodeName] += j.PerWorker.GPUs
		}
	}
	return o
}

// String returns what exists, for people. It says the same of any number of pods that have yet to run.
func (o Observed) String() string {
	switch {
	case o.Pods == 0 && o.Suspended:
		return "it is suspended"
	case o.Pods == 0:
		return "it has no pods"
	case o.Suspended:
		return "it is suspended, and not all of its pods are gone"
	case o.Ready < o.Pods:
		return "not all of its pods run"
	}
	total := 0
	for _, n := range o.GPUs {
		total += n
	}
	return fmt.Sprintf("it runs on %s", gpusOn(total, o.GPUs))
}

// gpusOn returns "8 GPUs on a:4, b:4".
func gpusOn(total int, byNode map[string]int) string {
	var on []string
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		on = append(on, fmt.Sprintf("%s:%d", node, byNode[node]))
	}
	text := fmt.Sprintf("%d GPUs", total)
	if len(on) > mostNodes {
		return fmt.Sprintf("%s on %d nodes", text, len(on))
	}
	return text + " on " + cmp.Or(strings.Join(on, ", "), "no node")
}

// mostNodes is how many nodes a sentence names.
const mostNodes = 4

// Planned returns what a plan has for a job, for people.
func (g *Grant) Planned() string {
	if g.GPUs == 0 {
		return "no GPUs"
	}
	return gpusOn(g.GPUs, GPUsByNode(g.Placement))
}

// PlannedOf returns what a plan has for a job, for people.
func PlannedOf(a *v1alpha1.JobAllocation) string {
	g := Grant{}
	g.GPUs = int(a.GPUs)
	for _, n := range a.Nodes {
		g.Placement = append(g.Placement, cluster.Share{Node: cluster.NodeID(n.Name), Resources: cluster.Resources{GPUs: int(n.GPUs)}})
	}
	return g.Planned()
}
