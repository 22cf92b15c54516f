package jobstate

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
)

// With returns p with the times and reports of history, another Past of the same job.
func (p Past) With(history Past) Past {
	p.state = history.state
	return p
}

// Adopted derives a running job's allocation from its pods, for when the Plan was deleted or is old. It returns false
// if the pods show no complete allocation.
func Adopted(j *jobadapter.Job, workers []*corev1.Pod, typeOf func(node string) string) (Past, bool) {
	if j.Generation == 0 || j.Suspended || j.PerWorker.GPUs == 0 || j.Ended != nil {
		return Past{}, false
	}
	a := v1alpha1.JobAllocation{UID: j.UID, Kind: j.Kind, Namespace: j.Namespace, Name: j.Name, Generation: j.Generation}
	on := workersByNode(j, workers)
	for _, node := range on.order {
		t := typeOf(node)
		if t == "" || a.GPUType != "" && a.GPUType != t {
			return Past{}, false
		}
		share := v1alpha1.NodeShare{Name: node, GPUs: int32(on.count[node] * j.PerWorker.GPUs)}
		a.GPUType, a.GPUs, a.Nodes = t, a.GPUs+share.GPUs, append(a.Nodes, share)
	}
	return Past{Allocation: a}, on.total == j.Workers && a.GPUs > 0
}

type tally struct {
	order []string
	count map[string]int
	total int
}

// With Job.Node set, all workers there count.
func workersByNode(j *jobadapter.Job, workers []*corev1.Pod) tally {
	t := tally{count: make(map[string]int)}
	if j.Node != "" {
		return tally{[]string{j.Node}, map[string]int{j.Node: j.Workers}, j.Workers}
	}
	for _, p := range workers {
		node := inventory.Node(p)
		if node == "" || Generation(p) != j.Generation || p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil {
			continue
		}
		if t.count[node] == 0 {
			t.order = append(t.order, node)
		}
		t.count[node]++
		t.total++
	}
	return t
}
