package jobstate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/model/cluster"
)

// Obstacle describes why planned pods do not exist or do not run.
func (e *Job) Obstacle() string {
	for _, p := range e.Pods {
		for _, c := range p.Status.Conditions {
			if e.Present(p) && c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
				return fmt.Sprintf(": pod %s: %s", p.Name, c.Message)
			}
		}
	}
	if n := e.Made(); n < e.Workers() {
		return fmt.Sprintf(": only %s created; see the job's events (perhaps a ResourceQuota)", printable.Count(n, "pod"))
	}
	return ""
}

// Place returns the first planned node that allows accepts and that has room in left for one worker, or "". It takes
// that room from left.
func (e *Job) Place(left map[string]int, allows func(node string) bool) string {
	for _, s := range e.Held.Placement {
		if name := string(s.Node); left[name] >= e.Parsed.PerWorker.GPUs && allows(name) {
			left[name] -= e.Parsed.PerWorker.GPUs
			return name
		}
	}
	return ""
}

// WholeWorkers returns an error if the GPUs of g on a node are not a whole number of workers.
func (e *Job) WholeWorkers(g *Grant) error {
	for _, s := range g.Placement {
		if s.GPUs%max(1, e.Parsed.PerWorker.GPUs) != 0 {
			return fmt.Errorf("job %s: allocated %s of node %s, want whole workers of %d", e.Spec.Name, printable.Count(s.GPUs, "GPU"), s.Node, e.Parsed.PerWorker.GPUs)
		}
	}
	return nil
}

// Grows reports whether the job can change to the grant next while it trains.
func (e *Job) Grows(next *Grant) bool {
	if e.Parsed.Resizing != v1alpha1.InPlace || next.GPUType != e.Held.GPUType || e.Parsed.Kueue && !e.Parsed.Sliced || e.Parsed.Node != "" {
		return false
	}
	left := GPUsByNode(next.Placement)
	for _, p := range e.Pods {
		if !e.Present(p) || Terminal(p) || Index(p) >= e.WorkersOn(next.GPUs) {
			continue
		}
		if left[inventory.Node(p)] -= e.Parsed.PerWorker.GPUs; left[inventory.Node(p)] < 0 {
			return false
		}
	}
	return true
}

// GPUsByNode returns the GPUs of a placement on each node.
func GPUsByNode(p cluster.Placement) map[string]int {
	all := make(map[string]int, len(p))
	for _, s := range p {
		all[string(s.Node)] += s.GPUs
	}
	return all
}
