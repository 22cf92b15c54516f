package jobstate

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

// A job is adopted if it runs by an earlier plan with all its workers on nodes of the queue; it holds what they
// hold.
func TestAdopted(t *testing.T) {
	worker := func(node, generation string, phase corev1.PodPhase) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.Generation: generation}}}
		p.Spec.NodeName, p.Status.Phase = node, phase
		return p
	}
	on := func(nodes ...string) (all []*corev1.Pod) {
		for _, n := range nodes {
			all = append(all, worker(n, "3", corev1.PodRunning))
		}
		return all
	}
	gone := worker("n1", "3", corev1.PodRunning)
	gone.DeletionTimestamp = new(metav1.Now())
	for name, c := range map[string]struct {
		change func(*jobadapter.Job)
		pods   []*corev1.Pod
		want   string // GPUs and nodes; empty: it is not adopted
	}{
		"runs":               {nil, on("n0", "n1"), "4 a100 [{n0 2} {n1 2}]"},
		"on one node":        {nil, on("n1", "n1"), "4 a100 [{n1 4}]"},
		"sent to its node":   {func(j *jobadapter.Job) { j.Node = "n0" }, nil, "4 a100 [{n0 4}]"},
		"one has succeeded":  {nil, append(on("n0"), worker("n1", "3", corev1.PodSucceeded)), "4 a100 [{n0 2} {n1 2}]"},
		"one has failed":     {nil, append(on("n0"), worker("n1", "3", corev1.PodFailed)), ""},
		"one is older":       {nil, append(on("n0"), worker("n1", "2", corev1.PodRunning)), ""},
		"one goes":           {nil, append(on("n0"), gone), ""},
		"one has no node":    {nil, on("n0", ""), ""},
		"on another's node":  {nil, on("n0", "other"), ""},
		"of two types":       {nil, on("n0", "t0"), ""},
		"was not started":    {func(j *jobadapter.Job) { j.Generation = 0 }, on("n0", "n1"), ""},
		"suspended":          {func(j *jobadapter.Job) { j.Suspended = true }, on("n0", "n1"), ""},
		"ended":              {func(j *jobadapter.Job) { j.Ended = &jobadapter.Ending{Outcome: scheduler.Done} }, on("n0", "n1"), ""},
		"asks for no GPUs":   {func(j *jobadapter.Job) { j.PerWorker.GPUs = 0 }, on("n0", "n1"), ""},
		"has too few worker": {nil, on("n0"), ""},
	} {
		j := &jobadapter.Job{UID: "u", Generation: 3, Workers: 2}
		j.PerWorker.GPUs = 2
		if c.change != nil {
			c.change(j)
		}
		past, ok := Adopted(j, c.pods, func(node string) string {
			return map[string]string{"n0": "a100", "n1": "a100", "t0": "t4"}[node]
		})
		got := ""
		if a := &past.Allocation; ok {
			got = fmt.Sprintf("%d %s %v", a.GPUs, a.GPUType, a.Nodes)
			if a.UID != "u" || a.Generation != 3 {
				t.Errorf("%s: %+v, want generation 3 of u", name, past)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Pods are listed in any order. The placement of a job that is adopted is in that of its nodes all the same,
// as that of plans is: in another one it would count as other GPUs, and the job would restart.
func TestAdopted_by_node(t *testing.T) {
	var workers []*corev1.Pod
	for _, node := range []string{"n2", "n0", "n1"} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.Generation: "3"}}}
		p.Spec.NodeName = node
		workers = append(workers, p)
	}
	j := &jobadapter.Job{UID: "u", Generation: 3, Workers: 3}
	j.PerWorker.GPUs = 2
	past, ok := Adopted(j, workers, func(string) string { return "a100" })
	got := GrantOf(&past.Allocation)
	if want := []cluster.NodeID{"n0", "n1", "n2"}; !ok || !slices.Equal(nodesOf(got.Placement), want) {
		t.Errorf("%v on %v, want it adopted on %v", ok, got.Placement, want)
	}
}

func nodesOf(p cluster.Placement) (ids []cluster.NodeID) {
	for _, s := range p {
		ids = append(ids, s.Node)
	}
	return ids
}
