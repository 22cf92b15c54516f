package kube

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

const quota = `pods "a-0" is forbidden: exceeded quota: gpus`

// begin starts job a, of which no pod is made.
func begin(t *testing.T, twin *kubetest.Cluster, w *Backend) {
	t.Helper()
	do(t, w, runOn(w.table.Order[0].ID, on("n0", 4)))
	looks(t, w, 2) // a step shows in the next look
	if *twin.Job("a").Spec.Suspend {
		t.Fatal("it was not started")
	}
}

// A start whose pods are refused is given up as soon as an event says so, and people are told
// why; one whose pods are merely late is not.
func TestAsking(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*kubetest.Cluster)
		after  func(*kubetest.Cluster)
		lost   bool
	}{
		{name: "its pods are refused", lost: true, after: func(twin *kubetest.Cluster) { twin.Refuse(twin.Job("a"), quota) }},
		{name: "one of its pods is refused", lost: true, after: func(twin *kubetest.Cluster) {
			twin.Control()
			twin.Remove(twin.PodsOf("a")[1])
			twin.Refuse(twin.Job("a"), quota)
		}},
		{name: "nothing says why they are late"},
		{name: "they were refused at an earlier start", before: func(twin *kubetest.Cluster) { twin.Refuse(twin.Job("a"), quota) }},
		{name: "pods of another are refused", after: func(twin *kubetest.Cluster) {
			twin.Refuse(twin.Submit("other", &kubetest.Ask{Name: "b", Workers: 1, GPUs: 1}), quota)
		}},
		{name: "all were made after all", after: func(twin *kubetest.Cluster) {
			twin.Refuse(twin.Job("a"), quota)
			twin.Control()
		}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			twin := newTwin()
			w, id := one(t, twin, v1alpha1.Resize)
			if c.before != nil {
				c.before(twin)
			}
			time.Sleep(2 * time.Second)
			begin(t, twin, w)
			time.Sleep(2 * time.Second)
			if c.after != nil {
				c.after(twin)
			}
			looks(t, w, 2)
			if lost := exits(news(t, w)); len(lost) != 0 {
				t.Fatalf("%+v at once, want that its controller gets time", lost)
			}
			time.Sleep(jobstate.Unmade)
			looks(t, w, 1)
			heard := news(t, w)
			lost := exits(heard)
			if c.lost != (len(lost) == 1 && lost[0].Job == id && lost[0].Outcome == scheduler.Lost && strings.Contains(lost[0].Detail, quota)) || !c.lost && len(lost) > 0 {
				t.Fatalf("%+v, want it lost for the quota: %v", lost, c.lost)
			}
			if c.lost {
				if d, ok := heard[len(heard)-1].(scheduler.Described); !ok || !slices.Contains(d.Spec.GPUTypes, nowhere) {
					t.Errorf("then %+v, want that the next plan gives others its turn", heard)
				}
				looks(t, w, 2)
				told(t, twin, w)
			}
		})
	}
}

// A start that the API server or a webhook refuses again and again keeps no GPUs from others, and people are told what it says;
// one that merely fails keeps them.
func TestStart_refused(t *testing.T) {
	o := schema.GroupKind{Group: "batch", Kind: "Job"}
	for name, c := range map[string]struct {
		err  error
		lost bool
	}{
		"by validation":   {apierrors.NewInvalid(o, "a", field.ErrorList{field.Forbidden(field.NewPath("spec"), "field is immutable")}), true},
		"by admission":    {apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "a", errors.New("field is immutable")), true},
		"by a short wait": {apierrors.NewInternalError(errors.New("field is immutable")), false},
	} {
		bubble(t, name, func(t *testing.T) {
			twin := newTwin()
			twin.Before = func(k *kubetest.Call) error {
				if j, is := k.Object.(*unstructured.Unstructured); is && k.Verb == "patch" && j.GetKind() == "Job" {
					return c.err
				}
				return nil
			}
			w, id := one(t, twin, v1alpha1.Resize)
			do(t, w, runOn(id, on("n0", 4)))
			for range jobstate.Tries {
				if lost := exits(news(t, w)); len(lost) != 0 {
					t.Fatalf("%+v after %d refusals, want it tried %d times", lost, w.table.ByID[id].Failures, jobstate.Tries)
				}
				time.Sleep(time.Until(w.table.ByID[id].NotBefore))
				looks(t, w, 1)
			}
			lost := exits(news(t, w))
			if c.lost != (len(lost) == 1 && lost[0].Outcome == scheduler.Lost && strings.Contains(lost[0].Detail, "field is immutable")) || !c.lost && len(lost) > 0 {
				t.Fatalf("%+v, want it lost: %v", lost, c.lost)
			}
			if e := w.table.ByID[id]; c.lost && !slices.Contains(e.Spec.GPUTypes, nowhere) {
				t.Errorf("described as %+v, want that the next plan has nothing for it", e.Spec)
			}
			looks(t, w, 2)
			says(t, twin, "field is immutable")
		})
	}
}

// told checks that the job is suspended, and that its condition says why.
func told(t *testing.T, twin *kubetest.Cluster, w *Backend) {
	t.Helper()
	j := twin.Job("a")
	if !*j.Spec.Suspend || time.Now().After(w.table.Order[0].NotBefore) {
		t.Errorf("suspended %v, again at %v, want it stopped and tried again later", *j.Spec.Suspend, w.table.Order[0].NotBefore)
	}
	says(t, twin, quota)
}

// says checks that the job's condition is StepFailed, and says so.
func says(t *testing.T, twin *kubetest.Cluster, text string) {
	t.Helper()
	all := twin.Job("a").Status.Conditions
	for _, d := range all {
		if d.Type == v1alpha1.ScheduledCondition && d.Reason == StepFailed && strings.Contains(d.Message, text) {
			return
		}
	}
	t.Errorf("conditions %+v, want %s with %q", all, StepFailed, text)
}

// Events are asked for less and less often.
func TestLacks_seldom(t *testing.T) {
	e := elastic("a", 2, 4)
	e.Parsed.Kind = "Job"
	e.CompleteAt = time.Now()
	n := 0
	for at := e.CompleteAt; at.Before(e.CompleteAt.Add(5 * time.Minute)); at = at.Add(time.Second) {
		if e.Lacks(at) {
			e.AskedAt = at
			n++
		}
	}
	if n != 5 { // after 10, 20, 40, 80 and 160 s
		t.Errorf("asked %d times in five minutes, want 5", n)
	}
}

// onFour submits job "a", which is elastic, and plans it on 4 GPUs of n0, for which pods are made; if it grows it has trained on 2 of them.
func onFour(t *testing.T, twin *kubetest.Cluster, grows bool) (*Backend, job.ID) {
	t.Helper()
	id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 4, GPUs: 1, Annotations: map[string]string{
		v1alpha1.MinGPUs: "2", v1alpha1.MaxGPUs: "4", v1alpha1.ResizeBy: "InPlace",
	}}).UID)
	w := open(t, twin, options(v1alpha1.Resize))
	if grows {
		do(t, w, runOn(id, on("n0", 2)))
		pass(t, w, twin)
		time.Sleep(time.Hour)
		looks(t, w, 1)
	}
	do(t, w, runOn(id, on("n0", 4)))
	looks(t, w, 2)
	twin.Control()
	return w, id
}

// An elastic job some of whose pods are refused, as it starts or as it grows, is planned with no
// more than there are, for a time; if it trains it goes on.
func TestLimit(t *testing.T) {
	for _, grows := range []bool{false, true} {
		bubble(t, map[bool]string{false: "starts", true: "grows"}[grows], func(t *testing.T) {
			twin := newTwin()
			w, id := onFour(t, twin, grows)
			for _, p := range twin.PodsOf("a")[2:] {
				twin.Remove(p)
			}
			twin.Refuse(twin.Job("a"), quota)
			looks(t, w, 1)
			news(t, w)
			time.Sleep(jobstate.Unmade)
			looks(t, w, 2)
			got := news(t, w)
			if len(got) == 0 || most(got[0]) != 2 || len(exits(got)) == 1 == grows {
				t.Fatalf("%+v, want that the job is one of 2 GPUs at most, and lost unless it trains (%v)", got, grows)
			}
			do(t, w, runOn(id, on("n0", 2)))
			time.Sleep(jobstate.LongBackoff / 2)
			pass(t, w, twin)
			says(t, twin, "limited to 2 GPUs for now")
			if n := len(twin.PodsOf("a")); n != 2 || grows && w.table.ByID[id].Held.Generation != 1 {
				t.Errorf("%d pods of generation %d, want 2, which were not started again where they ran", n, w.table.ByID[id].Held.Generation)
			}
			time.Sleep(jobstate.LongBackoff)
			looks(t, w, 1)
			if got = news(t, w); len(got) == 0 || most(got[len(got)-1]) != 4 {
				t.Errorf("%+v, want that more is tried again", got)
			}
		})
	}
}

// most returns the GPUs that a job may have at most, as an event says; 0: it says nothing.
func most(ev scheduler.Event) int {
	d, ok := ev.(scheduler.Described)
	if !ok {
		return 0
	}
	return d.Spec.MaxGPUs
}
