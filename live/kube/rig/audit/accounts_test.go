package audit

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// controlled makes a pod one that a job controls.
func controlled(uid string) podOption {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: uid, UID: types.UID(uid), Controller: new(true)}}
	}
}

func TestAccounts(t *testing.T) {
	serves := func(mode v1alpha1.Mode) *v1alpha1.Queue {
		q := queue("team")
		q.Spec.Mode = mode
		return q
	}
	for _, c := range []struct {
		name, says string // says is empty: nothing is found
		history    func(h *history)
	}{
		{"as planned", "", func(h *history) {
			h.put(serves(v1alpha1.Resize), job("j"), plan(1, 1, gives("j", 1, 8, "n")), pod("a", 4, controlled("j"), on("n")), pod("b", 4, controlled("j"), on("n")))
		}},
		{"more than planned", "holds 8 GPUs, want at most 4", func(h *history) {
			h.put(serves(v1alpha1.Resize), job("j"), plan(1, 1, gives("j", 1, 4, "n")), pod("a", 4, controlled("j"), on("n")), pod("b", 4, controlled("j"), on("n")))
		}},
		{"in no plan, and without marks", "holds 4 GPUs, want at most 0", func(h *history) {
			h.put(serves(v1alpha1.Admit), job("j"), plan(1, 1), pod("a", 4, controlled("j"), on("n")))
		}},
		{"the queue only observes", "", func(h *history) {
			h.put(serves(v1alpha1.Observe), job("j"), plan(1, 1), pod("a", 4, controlled("j"), on("n")))
		}},
		{"it leaves its account", "lost its controller", func(h *history) {
			h.put(serves(v1alpha1.Resize), job("j"), plan(1, 1, gives("j", 1, 4, "n")), pod("a", 4, controlled("j"), on("n")), pod("a", 4, on("n")))
		}},
		{"marks of another", "", func(h *history) {
			h.put(serves(v1alpha1.Resize), job("j"), plan(1, 1), pod("a", 4, of("j", 1), on("n")))
		}},
	} {
		h := newHistory(t, Accounts{})
		c.history(h)
		if found := h.a.Findings; len(found) > 0 != (c.says != "") || len(found) > 0 && !strings.Contains(found[0].Message, c.says) {
			t.Errorf("%s: found %v, want %q", c.name, found, c.says)
		}
	}
}

func TestUntouched(t *testing.T) {
	for name, c := range map[string]struct {
		found   int
		history func(h *history)
	}{
		"deleted":           {1, func(h *history) { h.put(pod("a", 4, controlled("j"), on("n"), deleting)) }},
		"gone":              {1, func(h *history) { h.del(pod("a", 4)) }},
		"its job has ended": {0, func(h *history) { h.put(job("j", batchv1.JobComplete)); h.del(pod("a", 4)) }},
		"it runs on":        {0, func(h *history) { h.put(pod("a", 4, controlled("j"), on("n"), written(2))) }},
	} {
		h := newHistory(t, &Untouched{Namespace: "team"}, &Untouched{Namespace: "other"})
		h.put(job("j"), pod("a", 4, controlled("j"), on("n")))
		c.history(h)
		if len(h.a.Findings) != c.found {
			t.Errorf("%s: %v, want %d", name, h.a.Findings, c.found)
		}
	}
}

func TestHolds(t *testing.T) {
	h := newHistory(t)
	h.put(job("j"), plan(1, 1, gives("j", 1, 8, "n"), gives("k", 1, 2, "n")), pod("a", 4, controlled("j"), on("n")), pod("b", 2, of("j", 1), on("n")), pod("c", 2, controlled("j")))
	if held, planned := h.a.State.Holds("q"); held != 4 || planned != 10 {
		t.Errorf("%d GPUs held, %d planned, want 4 and 10", held, planned)
	}
}
