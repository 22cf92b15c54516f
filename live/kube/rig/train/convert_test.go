package train

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

func TestPhillyLikeTraceBecomesJobs(t *testing.T) {
	catalog := profiles.Default()
	arrivals, err := PhillyLike(catalog, 160, 1)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Jobs(arrivals, As{Namespace: "default", Queue: "main", Speed: 60, Resizing: v1alpha1.InPlace})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 160 {
		t.Fatalf("%d jobs, want 160", len(all))
	}
	names := make(map[string]bool)
	for i, s := range all {
		j, a := s.Job, arrivals[i]
		names[j.Name] = true
		if s.At != a.At || !*j.Spec.Suspend || j.Labels[v1alpha1.QueueLabel] != "main" ||
			*j.Spec.CompletionMode != batchv1.IndexedCompletion || int(*j.Spec.Completions) != a.Spec.GPUs {
			t.Errorf("job %s: %+v of %+v, want a suspended Indexed Job of a pod for each GPU", j.Name, j.Spec, a.Spec)
		}
		w := &work{}
		g := &gang{pods: podsOf(j)}
		if err := w.know(g, catalog); err != nil {
			t.Errorf("job %s is not understood: %v", j.Name, err)
		}
		if w.app != catalog[a.Application] || w.target < a.Spec.Target || w.target > a.Spec.Target+1 || !w.adaptive {
			t.Errorf("job %s: trains %+v, want what arrival %+v does", j.Name, w.training, a)
		}
	}
	if len(names) != 160 {
		t.Errorf("%d names, want 160", len(names))
	}
}

func TestRigidArrivalsBecomeJobs(t *testing.T) {
	_, a := fixed(t, "cifar10", 4, 512)
	a.Spec.WorkerGPUs = 2
	all, err := Jobs([]workload.Arrival{*a}, As{Queue: "q", Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	j := all[0].Job
	for _, key := range []string{v1alpha1.MaxBatchSize, v1alpha1.ResizeBy, v1alpha1.MinGPUs} {
		if _, has := j.Annotations[key]; has {
			t.Errorf("annotations %v of a rigid job, want no %s", j.Annotations, key)
		}
	}
	if *j.Spec.Parallelism != 2 || gpus(podsOf(j)[0]) != 2 {
		t.Errorf("workers %+v, want 2 of 2 GPUs", j.Spec)
	}
	if err := (&work{}).know(&gang{pods: podsOf(j)}, workload.Catalog{}); err == nil {
		t.Error("an application that is in no catalog is known, want an error")
	}
	a.Application = ""
	if _, err := Jobs([]workload.Arrival{*a}, As{Queue: "q", Speed: 1}); err == nil {
		t.Error("a job without an application was taken, want an error")
	}
}
