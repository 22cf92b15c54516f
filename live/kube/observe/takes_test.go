package observe

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
)

// observer returns an Observer of a queue that namespace kubetest.Namespace may use.
func observer(twin *kubetest.Cluster, mode v1alpha1.Mode, known ...job.ID) *Observer {
	o := jobstate.DefaultOptions()
	o.Queue, o.Kinds = &v1alpha1.Queue{}, jobadapter.Kinds[:1]
	o.Queue.Name, o.Queue.Spec.Mode = "train", mode
	o.Queue.Spec.Namespaces = []v1alpha1.NamespaceShare{{Name: kubetest.Namespace}}
	is := func(id job.ID) (planned, over bool) { return len(known) > 0 && known[0] == id, false }
	return New(&o, twin.Client(), twin.Direct(), is)
}

// A job is taken if its namespace may use the queue, it has no problem and did not opt out. Where
// the backend starts jobs, one that somebody else started is not; one that was taken once is, still.
func TestObserver_takes(t *testing.T) {
	waiting := func() jobadapter.Job {
		return jobadapter.Job{UID: "a", Namespace: kubetest.Namespace, Suspended: true}
	}
	for name, test := range map[string]struct {
		change func(*jobadapter.Job)
		mode   v1alpha1.Mode
		known  bool
		want   bool
	}{
		"waits":                         {func(*jobadapter.Job) {}, v1alpha1.Resize, false, true},
		"opted out":                     {func(j *jobadapter.Job) { j.OptOut = true }, v1alpha1.Resize, true, false},
		"another namespace":             {func(j *jobadapter.Job) { j.Namespace = "other" }, v1alpha1.Resize, false, false},
		"another namespace, once taken": {func(j *jobadapter.Job) { j.Namespace = "other" }, v1alpha1.Resize, true, true},
		"has a problem":                 {func(j *jobadapter.Job) { j.Problem = "no GPUs" }, v1alpha1.Resize, false, false},
		"its annotations are spoilt, and it runs": {func(j *jobadapter.Job) {
			j.Suspended, j.Generation, j.Problem, j.Plain = false, 1, "no number", &job.Spec{}
		}, v1alpha1.Resize, false, true},
		"its annotations are spoilt, and it waits": {func(j *jobadapter.Job) { j.Problem, j.Plain = "no number", &job.Spec{} }, v1alpha1.Resize, false, false},
		"somebody else started it":                 {func(j *jobadapter.Job) { j.Suspended = false }, v1alpha1.Resize, false, false},
		"we started it":                            {func(j *jobadapter.Job) { j.Suspended, j.Generation = false, 1 }, v1alpha1.Resize, false, true},
		"somebody else, and we observe":            {func(j *jobadapter.Job) { j.Suspended = false }, v1alpha1.Observe, false, true},
		"a problem, and we only observe":           {func(j *jobadapter.Job) { j.Problem = "no GPUs" }, v1alpha1.Observe, false, false},
	} {
		j := waiting()
		test.change(&j)
		ob := observer(kubetest.New(), test.mode)
		if test.known {
			ob = observer(kubetest.New(), test.mode, "a")
		}
		if got := ob.Takes(&ObservedJob{Parsed: &j}); got != test.want {
			t.Errorf("%s: taken %v, want %v", name, got, test.want)
		}
	}
}

// An observation shows what is wanted if it has each object, as new or newer.
func TestObservation_shows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		versions := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.Uint64Range(1, 3))
		seen, want := versions.Draw(rt, "seen"), versions.Draw(rt, "wanted")
		all := true
		for uid, v := range want {
			all = all && seen[uid] >= v
		}
		if got := covers(seen, want); got != all {
			rt.Errorf("seen %v, wanted %v: shows %v", seen, want, got)
		}
	})
}

// What the API server has is observed: its nodes, and the jobs of the queue.
func TestObserve(t *testing.T) {
	twin := kubetest.New()
	twin.AddNode("n0", 4, "A100")
	object := twin.Submit("train", &kubetest.Ask{Name: "b", Workers: 1, GPUs: 4})
	ob := observer(twin, v1alpha1.Resize)
	if err := ob.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := ob.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 1 || s.Nodes[0].Capacity.GPUs != 4 {
		t.Errorf("nodes %+v, want one of 4 GPUs", s.Nodes)
	}
	if ours := s.Ours[string(object.UID)]; len(s.Ours) != 1 || !ours {
		t.Errorf("jobs %v, want %s alone", s.Ours, object.UID)
	}
}
