package kube

import (
	"errors"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// trained opens a backend in which a job of four GPUs of n0 runs.
func trained(t *testing.T, twin *kubetest.Cluster) (*Backend, job.ID) {
	t.Helper()
	w, id := one(t, twin, v1alpha1.Resize)
	do(t, w, runOn(id, on("n0", 4)))
	pass(t, w, twin)
	news(t, w)
	return w, id
}

// behind opens a backend in which such a job runs, and another that wants its node waits.
func behind(t *testing.T, twin *kubetest.Cluster) (w *Backend, runs, waits job.ID) {
	t.Helper()
	w, runs = trained(t, twin)
	waits = job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 4}).UID)
	pass(t, w, twin)
	return w, runs, waits
}

// hello1 is what the program of that job says at its start.
func hello1(generation, workers int) *agentapi.Hello {
	h := &agentapi.Hello{Version: 1, Generation: generation, WorldSize: workers}
	h.Batch.Init, h.Batch.Max = 64, 64
	return h
}

func TestHello(t *testing.T) {
	for _, c := range []struct {
		name  string
		id    job.ID
		hello *agentapi.Hello
		want  error
	}{
		{"one for each pod", "", hello1(1, 2), nil},
		{"one for each GPU", "", hello1(1, 4), nil},
		{"more workers than GPUs", "", hello1(1, 5), agentapi.ErrInvalid},
		{"fewer workers than pods", "", hello1(1, 1), agentapi.ErrInvalid},
		{"of a generation that is over", "", hello1(0, 2), agentapi.ErrGeneration},
		{"of a job that nobody knows", "nobody", hello1(1, 2), agentapi.ErrUnknown},
	} {
		bubble(t, c.name, func(t *testing.T) {
			w, id := trained(t, newTwin())
			if c.id != "" {
				id = c.id
			}
			welcome, err := w.Hello(t.Context(), id, c.hello)
			if !errors.Is(err, c.want) || (welcome != nil) != (c.want == nil) {
				t.Fatalf("%+v %v, want %v", welcome, err, c.want)
			}
			if c.want != nil {
				return
			}
			described := false
			for _, ev := range news(t, w) {
				d, ok := ev.(scheduler.Described)
				described = described || ok && d.Spec.Batch.Init == 64
			}
			if !described || welcome.ReportSeconds != w.o.Report.Seconds() {
				t.Errorf("described %v, %+v, want that the scheduler hears of its batch size", described, welcome)
			}
		})
	}
}

func TestReport(t *testing.T) {
	bubble(t, "it goes to the scheduler; of a job that is to stop it is answered with a notice", func(t *testing.T) {
		w, id := trained(t, newTwin())
		if _, err := w.Hello(t.Context(), id, hello1(1, 2)); err != nil {
			t.Fatal(err)
		}
		news(t, w)
		r := &agentapi.Report{Generation: 1, Sequence: 1, Progress: 640}
		answer, err := w.Report(t.Context(), id, r)
		if err != nil || answer.Notice != nil {
			t.Fatalf("%+v %v, want no notice", answer, err)
		}
		all := news(t, w)
		if len(all) != 1 {
			t.Fatalf("%+v, want the report", all)
		}
		if got, ok := all[0].(scheduler.Reported); !ok || got.Job != id || got.Progress != 640 {
			t.Errorf("%+v, want the report", all[0])
		}
		do(t, w, scheduler.Preempt{Job: id})
		if answer, err = w.Report(t.Context(), id, r); err != nil || answer.Notice == nil {
			t.Errorf("%+v %v, want a notice", answer, err)
		}
	})
}

func TestCheckpoint(t *testing.T) {
	bubble(t, "the job has not failed, whatever came before", func(t *testing.T) {
		w, id := trained(t, newTwin())
		w.table.ByID[id].Failures = 3
		if err := w.Checkpoint(t.Context(), id, &agentapi.Checkpoint{Generation: 1}); err != nil || w.table.ByID[id].Failures != 0 {
			t.Errorf("%v and %d failures, want none", err, w.table.ByID[id].Failures)
		}
	})
}

func TestSilence(t *testing.T) {
	bubble(t, "an agent that says nothing is of a rigid job, until it speaks", func(t *testing.T) {
		twin := newTwin()
		id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 1, Annotations: map[string]string{v1alpha1.MinGPUs: "1", v1alpha1.MaxGPUs: "4", v1alpha1.ResizeBy: "InPlace"}}).UID)
		w := open(t, twin, options(v1alpha1.Resize))
		do(t, w, runOn(id, on("n0", 2)))
		pass(t, w, twin)
		if _, err := w.Hello(t.Context(), id, hello1(1, 2)); err != nil {
			t.Fatal(err)
		}
		news(t, w)
		adapts := func() bool { return w.table.ByID[id].Spec.Adaptivity.Has(job.GPUCount) }
		if !adapts() {
			t.Fatal("want an elastic job")
		}
		time.Sleep(w.o.Silence)
		w.Round(nil, nil, nil)
		if adapts() || len(news(t, w)) != 1 {
			t.Error("want that the scheduler hears of a rigid job")
		}
		if _, err := w.Report(t.Context(), id, &agentapi.Report{Generation: 1, Sequence: 1}); err != nil || !adapts() {
			t.Errorf("%v, want an elastic job again", err)
		}
	})
}

// An agent has its time to speak from when its pods run on: one that waited for long is not
// silent as it starts again, and one that says nothing then is, later.
func TestSilence_of_one_that_starts_again(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, id := trained(t, twin)
		if _, err := w.Hello(t.Context(), id, hello1(1, 2)); err != nil {
			t.Fatal(err)
		}
		do(t, w, scheduler.Preempt{Job: id})
		pass(t, w, twin)
		time.Sleep(2 * w.o.Silence)
		do(t, w, runOn(id, on("n0", 4)))
		pass(t, w, twin)
		for _, want := range []bool{false, true} {
			w.Round(nil, nil, nil)
			if got := w.table.ByID[id].Silent; got != want {
				t.Errorf("silent %v, %v after its pods ran, want %v", got, time.Since(w.table.ByID[id].UpSince), want)
			}
			time.Sleep(w.o.Silence)
		}
	})
}

func TestMember(t *testing.T) {
	bubble(t, "pods that run are members, and others are not", func(t *testing.T) {
		twin := newTwin()
		w, id := trained(t, twin)
		uid := string(twin.PodsOf("a")[0].UID)
		want := Member{Job: id, Namespace: kubetest.Namespace, Name: twin.PodsOf("a")[0].Name, Account: "default"}
		if got, ok := w.Member(uid); got != want || !ok || !w.Has(id) {
			t.Errorf("%v %v, want %v", got, ok, want)
		}
		do(t, w, scheduler.Preempt{Job: id})
		pass(t, w, twin)
		if _, ok := w.Member(uid); ok {
			t.Error("want it a member no more")
		}
	})
}
