package kubetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

func (t *objects) Wrong() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, s := range t.wrong {
		errs = append(errs, errors.New(s))
	}
	return errors.Join(errs...)
}

func (t *objects) look(o client.Object) {
	switch o := o.(type) {
	case *corev1.Pod:
		t.checkNodes()
	case *v1alpha1.Plan:
		t.checkPlan(o)
	}
}

func (t *objects) checkNodes() {
	used := map[string]int{}
	for _, p := range t.pods() {
		if !over(p) {
			used[where(p)] += gpus(p)
		}
	}
	delete(used, "")
	for node, n := range used {
		if has := t.has(node); n > has {
			t.complain("node %s: %d GPUs pinned or used, and it has %d", node, n, has)
		}
	}
}

func (t *objects) checkPlan(p *v1alpha1.Plan) {
	t.mu.Lock()
	old := t.plans[p.Name]
	t.plans[p.Name] = p.DeepCopy()
	t.mu.Unlock()
	if old == nil {
		return
	}
	if p.Spec.Epoch < old.Spec.Epoch || p.Spec.Round < old.Spec.Round {
		t.complain("plan %s: epoch %d and round %d after %d and %d", p.Name, p.Spec.Epoch, p.Spec.Round, old.Spec.Epoch, old.Spec.Round)
	}
}

func (t *objects) complain(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := fmt.Sprintf(format, args...); len(t.wrong) < 10 && !slices.Contains(t.wrong, s) {
		t.wrong = append(t.wrong, s)
	}
}

func (t *objects) pods() []*corev1.Pod {
	var all corev1.PodList
	must(t.truth.List(context.Background(), &all))
	pods := make([]*corev1.Pod, len(all.Items))
	for i := range all.Items {
		pods[i] = &all.Items[i]
	}
	return pods
}

func gpus(p *corev1.Pod) int {
	n := 0
	for i := range p.Spec.Containers {
		q := p.Spec.Containers[i].Resources.Limits[GPU]
		n += int(q.Value())
	}
	return n
}

func (t *objects) has(node string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gpus[node]
}

func (t *objects) ready(node string) bool {
	var n corev1.Node
	err := t.truth.Get(context.Background(), client.ObjectKey{Name: node}, &n)
	must(client.IgnoreNotFound(err))
	return err == nil && n.Status.Conditions[0].Status == corev1.ConditionTrue
}

func where(p *corev1.Pod) string {
	if p.Spec.NodeName != "" {
		return p.Spec.NodeName
	}
	return pinned(p)
}

func pinned(p *corev1.Pod) string {
	if p.Spec.Affinity == nil {
		return ""
	}
	return p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
}
