package kubetest

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Serves is a node label: nodes with value yes belong to the inference cluster.
const Serves = "serves"

// AddServer adds an inference node.
func (t *Cluster) AddServer(name string, gpus int, gpuType string) {
	t.AddNode(name, gpus, gpuType)
	n := t.Node(name)
	n.Labels[Serves] = "yes"
	t.Update(n)
}

func (t *objects) Node(name string) *corev1.Node {
	var n corev1.Node
	must(t.truth.Get(context.Background(), client.ObjectKey{Name: name}, &n))
	return &n
}

// Serve creates an inference pod, which only inference nodes can run.
func (t *Cluster) Serve(name string, gpus int) {
	q := corev1.ResourceList{GPU: *resource.NewQuantity(int64(gpus), resource.DecimalSI)}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "inference", Finalizers: []string{Kubelet}}}
	p.Spec.NodeSelector = map[string]string{Serves: "yes"}
	p.Spec.Containers = []corev1.Container{{Name: "serve", Image: "serve", Resources: corev1.ResourceRequirements{Limits: q, Requests: q}}}
	p.Status.Phase = corev1.PodPending
	t.Create(p)
}

func (t *objects) Calm() {
	must(t.truth.DeleteAllOf(context.Background(), &corev1.Pod{}, client.InNamespace("inference")))
}

func (t *objects) Lent() (lent, waits int) {
	t.mu.Lock()
	lent = len(t.loans)
	t.mu.Unlock()
	for _, p := range t.pods() {
		if p.Namespace == "inference" && p.Spec.NodeName == "" {
			waits++
		}
	}
	return lent, waits
}

func (t *Cluster) bindServing(p *corev1.Pod, used map[string]int) bool {
	var all corev1.NodeList
	must(t.truth.List(context.Background(), &all, client.MatchingLabels(p.Spec.NodeSelector)))
	for i := range all.Items {
		n := &all.Items[i]
		if len(n.Spec.Taints) == 0 && t.ready(n.Name) && used[n.Name]+gpus(p) <= t.has(n.Name) {
			used[n.Name] += gpus(p)
			p.Spec.NodeName = n.Name
			t.Update(p)
			return true
		}
	}
	if len(p.Status.Conditions) > 0 {
		return false
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	t.Update(p)
	return true
}

func (t *objects) checkLoans() {
	var all corev1.NodeList
	must(t.truth.List(context.Background(), &all))
	t.mu.Lock()
	before := t.loans
	t.loans = make(map[string]string)
	for i := range all.Items {
		if to := all.Items[i].Labels[v1alpha1.LoanLabel]; to != "" {
			t.loans[all.Items[i].Name] = to
		}
	}
	now := t.loans
	t.mu.Unlock()
	for _, p := range t.pods() {
		n := where(p)
		if to := before[n]; to != "" && now[n] != to && p.Labels[v1alpha1.QueueLabel] == to && !over(p) {
			t.complain("node %s went back from queue %s with pod %s on it", n, to, p.Name)
		}
	}
}
