package eco

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// TestRayJob: under KubeRay's operator a RayJob waits suspended, starts with the planned workers, gives way to a
// Job, grows back by restarts, is stopped for a shorter Job, continues, and frees its GPUs when it fails. Fake
// nodes run its pods without Ray, so it cannot complete. A deleted RayJob leaves nothing.
func TestRayJob(t *testing.T) {
	s := serve(t, 2, "afs", false, KubeRay)
	s.submit("tune.yaml", "tune")
	s.state("Running")
	t.Logf("alone it runs on all GPUs after %v", s.runs("tune", 4, 4))
	s.create(e2e.Job("half", "train", 1, 8, map[string]string{v1alpha1.RunSeconds: "100"}))
	t.Logf("a Job that comes runs after %v", s.runs("half", 1, 8))
	t.Logf("and the RayJob on the rest %v later", s.runs("tune", 2, 4))
	s.remove("job/half")
	t.Logf("it has all GPUs again %v after the Job was deleted", s.runs("tune", 4, 4))

	q := &v1alpha1.Queue{}
	q.Name = "train"
	if err := s.k.Patch(t.Context(), q, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"policy":{"name":"srtf"}}}`))); err != nil {
		t.Fatal(err)
	}
	s.create(e2e.Job("short", "train", 2, 8, map[string]string{v1alpha1.RunSeconds: "100"}))
	t.Logf("a shorter Job of all GPUs runs after %v", s.runs("short", 2, 8))
	s.state("Suspended")
	if n := s.clusters(t.Context()); n != "" {
		t.Errorf("RayClusters %s while it is stopped, want none", n)
	}
	s.remove("job/short")
	t.Logf("it runs again %v after that was deleted, as it asks", s.runs("tune", 2, 4))
	t.Logf("it is gone, and its GPUs free, %v after its submitter failed", s.gone("tune", func() error { return s.failSubmitter("tune") }))
	s.submit("tune.yaml", "other")
	t.Logf("another runs after %v", s.runs("other", 2, 4))
	s.remove("rayjob/other")
	t.Logf("it is gone, and its GPUs free, %v after it was deleted", s.gone("other", func() error { return nil }))
	s.sound()
}

// gone waits until all pods of a job with GPUs are gone, and the queue says that it uses none. Meanwhile it does something.
func (s *served) gone(name string, meanwhile func() error) time.Duration {
	s.Helper()
	return e2e.Until(s.Context(), s, patience, "the workers of "+name+" are gone, and the GPUs free", func() error {
		if err := meanwhile(); err != nil {
			return err
		}
		all, err := s.workers(name)
		if err != nil || len(all) > 0 {
			return fmt.Errorf("%d pods, %w", len(all), err)
		}
		var q v1alpha1.Queue
		if err := s.k.Get(s.Context(), client.ObjectKey{Name: "train"}, &q); err != nil || q.Status.GPUsUsed != 0 {
			return fmt.Errorf("%d GPUs used, %w", q.Status.GPUsUsed, err)
		}
		return nil
	})
}

// failSubmitter has the pods fail that submit a RayJob.
func (s *served) failSubmitter(name string) error {
	all, err := jobPods(s.Context(), s.Cluster, name)
	for i := range all {
		if err == nil && all[i].Labels["job-name"] == name && all[i].Status.Phase == corev1.PodRunning {
			err = s.Exit(s.Context(), &all[i], 1)
		}
	}
	return err
}

// state waits until KubeRay says so of RayJob tune.
func (s *served) state(want string) {
	s.Helper()
	e2e.Until(s.Context(), s, patience, "KubeRay says "+want, func() error {
		got, err := get(s.Context(), s.Cluster, "rayjob/tune", ".status.jobDeploymentStatus")
		if err == nil && got != want {
			err = fmt.Errorf("%s, want %s", got, want)
		}
		return err
	})
}

func (s *served) clusters(ctx context.Context) string {
	s.Helper()
	names, err := kubectl(ctx, s.Cluster, "", "get", "rayclusters", "-o", "name")
	if err != nil {
		s.Fatal(err)
	}
	return names
}
