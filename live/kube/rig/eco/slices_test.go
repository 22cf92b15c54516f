package eco

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// TestSlices: two Kueue queues of 16 GPUs each share a cohort. A Job that can be resized in place borrows quota to
// grow, returns it without a restart when a Job of the other queue arrives, and then grows again.
func TestSlices(t *testing.T) {
	s := serve(t, 4, "afs", false, Kueue)
	apply(t, s.Cluster, "cohort.yaml", "")
	s.queued("bends", "a", map[string]string{
		v1alpha1.ResizeBy: string(v1alpha1.InPlace), v1alpha1.MinGPUs: "8", v1alpha1.MaxGPUs: "32", v1alpha1.RunSeconds: "1000000",
		"kueue.x-k8s.io/elastic-job": "true",
	})
	t.Logf("alone it runs on all 4 nodes after %v", s.runs("bends", 4, 8))
	s.charges("a", "32", "16")
	first := s.uids("bends")[:2]
	s.queued("rigid", "b", map[string]string{v1alpha1.RunSeconds: "100"})
	t.Logf("a Job of the other queue runs after %v", s.runs("rigid", 2, 8))
	t.Logf("and it on 2 nodes %v later", s.runs("bends", 2, 8))
	s.charges("a", "16", "")
	s.charges("b", "16", "")
	if now := s.uids("bends"); !slices.Equal(now, first) {
		t.Errorf("pods %v, want the first two of before, %v", now, first)
	}
	s.remove("job/rigid")
	t.Logf("it has all 4 nodes again %v after that was deleted", s.runs("bends", 4, 8))
	s.charges("a", "32", "16")
	if now := s.uids("bends"); !slices.Equal(now[:2], first) {
		t.Errorf("pods %v, want the first two of before, %v", now, first)
	}
	s.sound()
}

// queued makes a Job of two workers of eight GPUs, which waits for Oxgang and then for a queue of Kueue's.
func (s *served) queued(name, queue string, annotations map[string]string) {
	s.Helper()
	j := e2e.Job(name, "train", 2, 8, annotations)
	j.Labels["kueue.x-k8s.io/queue-name"] = queue
	j.Annotations["kueue.x-k8s.io/admission-gated-by"] = v1alpha1.AdmissionGate
	s.create(j)
}

// charges waits until Kueue says that a queue uses so many GPUs, and has borrowed so many of them; empty: none.
func (s *served) charges(queue, used, borrowed string) {
	s.Helper()
	const path = ".status.flavorsReservation[0].resources[0]"
	e2e.Until(s.Context(), s, patience, fmt.Sprintf("queue %s uses %s GPUs, and borrows %q", queue, used, borrowed), func() error {
		u, err := get(s.Context(), s.Cluster, "clusterqueue/"+queue, path+".total")
		if err != nil {
			return err
		}
		b, err := get(s.Context(), s.Cluster, "clusterqueue/"+queue, path+".borrowed")
		if b == "0" {
			b = ""
		}
		if err == nil && (u != used || b != borrowed) {
			err = fmt.Errorf("%s, borrowed %q", u, b)
		}
		return err
	})
}

// uids returns the pods of a Job, by their indexes.
func (s *served) uids(name string) []string {
	s.Helper()
	all, err := s.workers(name)
	if err != nil {
		s.Fatal(err)
	}
	uids := map[string]string{}
	for i := range all {
		if all[i].DeletionTimestamp == nil {
			uids[all[i].Annotations["batch.kubernetes.io/job-completion-index"]] = string(all[i].UID)
		}
	}
	var sorted []string
	for i := range len(uids) {
		sorted = append(sorted, uids[fmt.Sprint(i)])
	}
	return sorted
}
