package jobstate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/model/cluster"
)

// An Observed is the observed state of a job's pods that have not ended.
type Observed struct {
	Suspended bool
	Pods      int
	Ready     int
	GPUs      map[string]int // of ready workers, by node
}

// ObservedOf summarizes the given pods of job j.
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

func (o Observed) String() string {
	switch {
	case o.Pods == 0 && o.Suspended:
		return "suspended"
	case o.Pods == 0:
		return "no pods"
	case o.Suspended:
		return "suspended; some of its pods still exist"
	case o.Ready < o.Pods:
		return "some of its pods do not run yet"
	}
	total := 0
	for _, n := range o.GPUs {
		total += n
	}
	return fmt.Sprintf("runs on %s", gpusOn(total, o.GPUs))
}

func gpusOn(total int, byNode map[string]int) string {
	var on []string
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		on = append(on, fmt.Sprintf("%s:%d", node, byNode[node]))
	}
	text := printable.Count(total, "GPU")
	if len(on) > mostNodes {
		return fmt.Sprintf("%s on %d nodes", text, len(on))
	}
	return text + " on " + cmp.Or(strings.Join(on, ", "), "no node")
}

const mostNodes = 4

// Planned describes the grant in words.
func (g *Grant) Planned() string {
	if g.GPUs == 0 {
		return "no GPUs"
	}
	return gpusOn(g.GPUs, GPUsByNode(g.Placement))
}

// PlannedOf describes the allocation's grant in words.
func PlannedOf(a *v1alpha1.JobAllocation) string {
	g := Grant{}
	g.GPUs = int(a.GPUs)
	for _, n := range a.Nodes {
		g.Placement = append(g.Placement, cluster.Share{Node: cluster.NodeID(n.Name), Resources: cluster.Resources{GPUs: int(n.GPUs)}})
	}
	return g.Planned()
}
