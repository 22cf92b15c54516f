package load

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// A job that is admitted, stopped and admitted again counts once: by its last admission, from when it came.
func TestSeen_counts_the_last_admission(t *testing.T) {
	s := &timeline{jobs: map[types.NamespacedName]*life{}}
	c := &class{ClassName: "small", RuntimeMs: 200, Request: 1}
	j := c.job("cq", "small-0", map[string]string{})
	pod := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "cq", Labels: map[string]string{batchv1.JobNameLabel: j.Name}}}
	suspend := func(yes bool) {
		j.Spec.Suspend = &yes
		s.job(watch.Event{Type: watch.Modified, Object: j})
	}
	suspend(true)
	l := s.of("cq", "small-0", time.Time{})
	l.came = l.came.Add(-10 * time.Second)
	suspend(false)
	first := l.admitted
	s.pod(watch.Event{Type: watch.Added, Object: pod})
	suspend(true)
	suspend(false)
	s.pod(watch.Event{Type: watch.Deleted, Object: pod})
	s.pod(watch.Event{Type: watch.Added, Object: pod})
	if s.done(1) == nil {
		t.Error("all are complete, want none")
	}
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	for range 2 {
		suspend(false)
	}
	if err := s.done(1); err != nil || s.ended != 1 {
		t.Errorf("%d complete, %v, want 1", s.ended, err)
	}
	if !l.admitted.After(first) || l.evictions != 1 || l.pods != 2 || l.admissions != 2 {
		t.Errorf("%+v, want the second of two admissions, one eviction and two pods", l)
	}
	if text := s.String(); !strings.HasPrefix(text, "small: 1 jobs, 2 pods, 1 evictions; on average admitted after 10.0 s, running after 10.0, complete after 10.0") {
		t.Error(text)
	}
}

// The file of Kueue's module is what the figures of the experiment are of.
func TestBaseline_is_of_15000_workloads(t *testing.T) {
	all, err := readBaseline(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	queues := map[string]bool{}
	all.each(func(_, queue string) { queues[queue] = true })
	gpus := 0
	for _, n := range all.nodes() {
		gpus += n.Count * n.GPUs
	}
	if all.workloads() != 15000 || len(queues) != 30 || gpus != 600 {
		t.Errorf("%d workloads in %d queues with %d GPUs, want 15000, 30 and 600", all.workloads(), len(queues), gpus)
	}
	if tenth, err := readBaseline(t.Context(), 0.1); err != nil || tenth.workloads() != 1500 {
		t.Errorf("a tenth is %d, %v, want 1500", tenth.workloads(), err)
	}
}
