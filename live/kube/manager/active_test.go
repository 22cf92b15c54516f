package manager

import (
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// A queue says how many of its nodes are not used, because their GPUs are shares of GPUs; no other queue is in
// the way of such nodes.
func TestActive_with_shared_GPUs(t *testing.T) {
	on := func(name string, labels map[string]string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	shared := on("b", map[string]string{"nvidia.com/gpu.sharing-strategy": "time-slicing", "pool": "x"})
	q, older := &v1alpha1.Queue{}, &v1alpha1.Queue{}
	q.Name, q.Spec.Mode, q.Spec.Policy.Name = "train", v1alpha1.Observe, "fifo"
	older.Name, older.Spec.NodeSelector = "older", map[string]string{"pool": "x"}
	for _, c := range []struct {
		nodes        []*corev1.Node
		reason, says string
	}{
		{[]*corev1.Node{on("a", nil)}, serving, "plans are made every 1m0s"},
		{[]*corev1.Node{on("a", nil), shared}, serving, "plans are made every 1m0s; 1 node not used: GPUs shared by time-slicing or MPS"},
		{[]*corev1.Node{on("c", map[string]string{"pool": "x"})}, overlaps, "node c also belongs to the older queue older"},
	} {
		k := fake.NewFakeClient()
		for _, n := range c.nodes {
			if err := k.Create(t.Context(), n.DeepCopy()); err != nil {
				t.Fatal(err)
			}
		}
		l := &leader{log: slog.New(slog.DiscardHandler), manager: &still{client: k}}
		reason, message := l.active(t.Context(), q, &v1alpha1.ClusterPolicy{}, []*v1alpha1.Queue{older})
		if reason != c.reason || !strings.HasPrefix(message, c.says) || strings.Contains(message, "shared") != strings.Contains(c.says, "shared") {
			t.Errorf("%d nodes: %s, %q; want %s, %q", len(c.nodes), reason, message, c.reason, c.says)
		}
	}
}
