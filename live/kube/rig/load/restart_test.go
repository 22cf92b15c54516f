package load

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// With 1,000 nodes and 2,000 pods, a scheduler that is killed and started again has taken its
// queue over, and planned for a job that came meanwhile, within ten seconds.
func TestRestart_is_short(t *testing.T) {
	long(t, "the time from the start of the process to its first plan, with 1,000 nodes and 2,000 pods, goal at most 10 s")
	b := start(t, rig.Options{Lean: true, Nodes: []rig.Nodes{{Type: "a100", Count: 1000}}})
	b.each(1900, func(ctx context.Context, i int) error {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("daemon-%d", i), Namespace: "default"}}
		p.Spec.NodeName = fmt.Sprintf("a100-%d", i%1000)
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: "x"}}
		return b.k.Create(ctx, p)
	})
	b.serve()
	b.ok(b.k.Create(t.Context(), e2e.Queue("train", v1alpha1.Resize, "fifo")))
	epoch := b.epoch(0)
	var jobs []*batchv1.Job
	for i := range 100 {
		jobs = append(jobs, e2e.Job(fmt.Sprintf("j%d", i), "train", 1, 8, nil))
	}
	b.until(100, func() { b.submit(jobs) })
	var took []float64
	for i := range 5 {
		b.ok(b.oxgang.Kill())
		name := fmt.Sprintf("late-%d", i)
		b.submit([]*batchv1.Job{e2e.Job(name, "train", 1, 8, nil)})
		began := time.Now()
		b.ok(b.oxgang.Restart())
		epoch = b.epoch(epoch)
		e2e.Until(t.Context(), t, within, "the plan knows "+name, func() error { return b.planned(name) })
		took = append(took, time.Since(began).Seconds())
	}
	mid, least, most := median(took)
	t.Logf("from the start of the process to its first plan: median %.1f s (%.1f to %.1f) of %d", mid, least, most, len(took))
	if mid > 50 {
		t.Errorf("%.1f s, want at most 10, and here at most 50", mid)
	}
}
