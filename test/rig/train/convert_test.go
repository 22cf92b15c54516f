package train

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/workload"
)

func TestPhillyLikeTraceBecomesJobs(t *testing.T) {
	catalog := workload.Default()
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

func TestRigidAndSteadyArrivalsBecomeJobs(t *testing.T) {
	const csv = "name,time,application,num_replicas,batch_size\nx,10,cifar10,4,512\n"
	catalog := workload.Default()
	arrivals, err := Read(strings.NewReader(csv), "w.csv", catalog, 0)
	if err != nil {
		t.Fatal(err)
	}
	arrivals[0].Spec.Adaptivity = job.Rigid
	steady := workload.Arrival{Duration: 1000e9, Spec: job.Spec{ID: "s", GPUs: 6, WorkerGPUs: 2}}
	if err := catalog.Complete(&steady); err != nil {
		t.Fatal(err)
	}
	arrivals = append(arrivals, steady)
	all, err := Jobs(arrivals, As{Queue: "q", Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(all[0].Job.Annotations, all[1].Job.Annotations)
	for _, key := range []string{v1alpha1.MaxBatchSize, v1alpha1.ResizeBy, v1alpha1.MinGPUs} {
		if strings.Contains(got, key) {
			t.Errorf("annotations %s of rigid jobs, want no %s", got, key)
		}
	}
	if *all[1].Job.Spec.Parallelism != 3 || gpus(podsOf(all[1].Job)[0]) != 2 {
		t.Errorf("workers %+v, want 3 of 2 GPUs", all[1].Job.Spec)
	}
	w := &work{}
	if err := w.know(&gang{pods: podsOf(all[1].Job)}, catalog); err == nil {
		t.Error("an application that is in no catalog is known, want an error")
	}
	if err := w.know(&gang{pods: podsOf(all[1].Job)}, Applications(catalog, arrivals)); err != nil || w.target != 1000 {
		t.Errorf("steady job: %v, target %v, want 1000", err, w.target)
	}
}
