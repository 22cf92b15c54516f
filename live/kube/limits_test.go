package kube

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// What users may say of their jobs is bounded by their queue: the most GPUs, whatever the annotation says, and
// whether a job is preempted.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		namespace     int32 // maxGPUs of the namespace
		limits        v1alpha1.JobLimits
		annotations   map[string]string
		most          int
		nonPreemptive bool
	}{
		"without limits":         {0, v1alpha1.JobLimits{}, map[string]string{v1alpha1.ResizeBy: "Restart", v1alpha1.MaxGPUs: "8", v1alpha1.NonPreemptible: "true"}, 8, true},
		"fewer GPUs":             {0, v1alpha1.JobLimits{MaxGPUs: 4}, map[string]string{v1alpha1.ResizeBy: "Restart", v1alpha1.MaxGPUs: "8"}, 4, false},
		"as many as it wants":    {0, v1alpha1.JobLimits{MaxGPUs: 8}, map[string]string{v1alpha1.ResizeBy: "Restart", v1alpha1.MaxGPUs: "4"}, 4, false},
		"fewer in its namespace": {4, v1alpha1.JobLimits{MaxGPUs: 6}, map[string]string{v1alpha1.ResizeBy: "Restart", v1alpha1.MaxGPUs: "8"}, 4, false},
		"more in its namespace":  {8, v1alpha1.JobLimits{MaxGPUs: 6}, map[string]string{v1alpha1.ResizeBy: "Restart", v1alpha1.MaxGPUs: "8"}, 6, false},
		"in its namespace alone": {6, v1alpha1.JobLimits{}, map[string]string{v1alpha1.ResizeBy: "Restart", v1alpha1.MaxGPUs: "8"}, 6, false},
		"is preempted":           {0, v1alpha1.JobLimits{DenyNonPreemptible: true}, map[string]string{v1alpha1.NonPreemptible: "true"}, 2, false},
	} {
		bubble(t, name, func(t *testing.T) {
			twin := newTwin()
			o := options(v1alpha1.Resize)
			o.Queue.Spec.Limits, o.Queue.Spec.Namespaces[0].MaxGPUs = c.limits, c.namespace
			w := open(t, twin, o)
			id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 1, Annotations: c.annotations}).UID)
			looks(t, w, 2)
			if got := w.table.ByID[id].Spec; got.MaxGPUs != c.most || got.NonPreemptive != c.nonPreemptive {
				t.Errorf("at most %d GPUs, not preempted %v, want %d and %v", got.MaxGPUs, got.NonPreemptive, c.most, c.nonPreemptive)
			}
		})
	}
}

// A job that asks for more GPUs than its queue gives one is told so, and keeps nobody else waiting.
func TestLimits_of_what_is_asked_for(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		o := options(v1alpha1.Resize)
		o.Queue.Spec.Limits.MaxGPUs = 3
		w := open(t, twin, o)
		twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2})
		looks(t, w, 2)
		c := twin.Job("a").Status.Conditions
		if len(w.table.Order) != 0 || len(c) != 1 || c[0].Reason != Misconfigured || c[0].Message != "it requests 4 GPUs; a job of namespace team may have at most 3 in queue train (maxGPUs of its spec.limits or spec.namespaces)" {
			t.Errorf("%d jobs planned, told %+v", len(w.table.Order), c)
		}
	})
}

// A job that comes to ask for more after it was taken in gets no GPUs as long as it does; one that runs keeps
// what it has.
func TestLimits_of_a_job_that_grows(t *testing.T) {
	for name, runs := range map[string]bool{"it waits": false, "it runs": true} {
		bubble(t, name, func(t *testing.T) {
			twin := newTwin()
			o := options(v1alpha1.Resize)
			o.Queue.Spec.Limits.MaxGPUs = 3
			w := open(t, twin, o)
			id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 1}).UID)
			looks(t, w, 1)
			if runs {
				do(t, w, runOn(id, on("n0", 2)))
				pass(t, w, twin)
			}
			j := twin.Job("a")
			j.Spec.Parallelism, j.Spec.Completions = new(int32(4)), new(int32(4))
			twin.Update(j)
			looks(t, w, 2)
			got := w.table.ByID[id].Spec
			if barred := slices.Contains(got.GPUTypes, nowhere); barred == runs || runs && got.GPUs != 2 {
				t.Errorf("it asks for %d GPUs of types %v, want none that there are, or what it had", got.GPUs, got.GPUTypes)
			}
			if reason(twin) != Misconfigured {
				t.Errorf("told %q, want %s", reason(twin), Misconfigured)
			}
		})
	}
}

// A job that was started stays in the account of the queue if its annotations are spoilt, or it asks for too much,
// and another leader comes: it goes on, and a plan can stop it.
func TestLimits_when_another_leads(t *testing.T) {
	for name, spoil := range map[string]func(*batchv1.Job){
		"spoilt": func(j *batchv1.Job) {
			j.Annotations = map[string]string{v1alpha1.MaxGPUs: "banana", v1alpha1.Class: "a class"}
		},
		"too large": func(j *batchv1.Job) { j.Spec.Parallelism, j.Spec.Completions = new(int32(4)), new(int32(4)) },
	} {
		bubble(t, name, func(t *testing.T) {
			twin := newTwin()
			o := options(v1alpha1.Resize)
			o.Queue.Spec.Limits.MaxGPUs = 3
			w := open(t, twin, o)
			id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 1}).UID)
			looks(t, w, 1)
			do(t, w, runOn(id, on("n0", 2)))
			pass(t, w, twin)
			j := twin.Job("a")
			spoil(j)
			twin.Update(j)
			w = open(t, twin, o)
			e := w.table.ByID[id]
			if e == nil || e.Held.GPUs != 2 || e.Spec.GPUs != 2 || e.Spec.Adaptivity&job.GPUCount != 0 {
				t.Fatalf("taken over as %+v, want it with its 2 GPUs", e)
			}
			do(t, w, scheduler.Preempt{Job: id})
			pass(t, w, twin)
			if !*twin.Job("a").Spec.Suspend {
				t.Error("it runs on, want it stopped")
			}
		})
	}
}
