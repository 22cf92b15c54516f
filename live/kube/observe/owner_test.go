package observe

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
)

// objects is a client that knows the objects between jobs and their pods.
type objects struct {
	client.Client
	all  []*unstructured.Unstructured
	gets int
}

func (c *objects) Get(_ context.Context, k client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	c.gets++
	for _, has := range c.all {
		if has.GetNamespace() == k.Namespace && has.GetName() == k.Name && has.GetKind() == o.GetObjectKind().GroupVersionKind().Kind {
			o.(*unstructured.Unstructured).Object = has.Object //nolint:forcetypeassert // it asks for no other
			return nil
		}
	}
	return errors.NewNotFound(schema.GroupResource{}, k.Name)
}

// by refers to the controller of an object.
func by(apiVersion, kind, name string) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("uid-of-" + name), Controller: new(true)}
}

// part is an object in namespace a that another controls.
func part(apiVersion, kind, name string, of *metav1.OwnerReference) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	o.SetNamespace("a")
	o.SetUID(types.UID("uid-of-" + name))
	if of != nil {
		o.SetOwnerReferences([]metav1.OwnerReference{*of})
	}
	return o
}

const (
	jobSets  = "jobset.x-k8s.io/v1alpha2"
	trainers = "trainer.kubeflow.org/v1alpha1"
)

// belongs returns an observer with an observation of jobs of namespace a: the Job train, the JobSet
// set, the TrainJob run and the RayJob tune, each with what its controller has made.
func belongs() (*Observer, *Observation, *objects) {
	c := &objects{all: []*unstructured.Unstructured{
		part("batch/v1", "Job", "set-w-0", by(jobSets, "JobSet", "set")),
		part("batch/v1", "Job", "run-node-0", by(jobSets, "JobSet", "runs-set")),
		part(jobSets, "JobSet", "runs-set", by(trainers, "TrainJob", "run")),
		part("batch/v1", "Job", "other", nil),
		part("batch/v1", "Job", "round", by("batch/v1", "Job", "round")),
	}}
	o := jobstate.DefaultOptions()
	o.Queue, o.Kinds = &v1alpha1.Queue{}, jobadapter.Kinds
	o.Queue.Name, o.Queue.Spec.Mode = "train", v1alpha1.Resize
	o.Queue.Spec.Namespaces = []v1alpha1.NamespaceShare{{Name: "a"}, {Name: "b"}}
	s := &Observation{Pods: map[string][]*corev1.Pod{}, Helpers: map[string][]*corev1.Pod{}, Unmarked: map[string][]*corev1.Pod{}, namespaces: map[string]string{}, uids: map[jobadapter.Key]string{}, Ours: map[string]bool{}}
	for kind, name := range map[string]string{"Job": "train", "JobSet": "set", "TrainJob": "run", "RayJob": "tune"} {
		uid := "uid-of-" + name
		s.namespaces[uid], s.Ours[uid], s.uids[jobadapter.Key{Kind: kind, Namespace: "a", Name: name}] = "a", true, uid
	}
	return New(&o, c, nil, nil), s, c
}

// A pod belongs to the job of its namespace to which its controllers lead, whatever its labels say;
// a label is asked only while an object between the two is not there any more, and counts in that
// job's namespace.
func TestOwner(t *testing.T) {
	for name, c := range map[string]struct {
		namespace string
		by        *metav1.OwnerReference
		mark      string // the job that the pod's label names
		want      string
	}{
		"Job":                              {"a", by("batch/v1", "Job", "train"), "", "train"},
		"Job, and marked as of another":    {"a", by("batch/v1", "Job", "train"), "set", "train"},
		"JobSet":                           {"a", by("batch/v1", "Job", "set-w-0"), "", "set"},
		"TrainJob":                         {"a", by("batch/v1", "Job", "run-node-0"), "", "run"},
		"RayJob":                           {"a", by("ray.io/v1", "RayCluster", "tune-x7k2p"), "", "tune"},
		"RayCluster of nobody":             {"a", by("ray.io/v1", "RayCluster", "shared"), "tune", ""},
		"another Job":                      {"a", by("batch/v1", "Job", "other"), "", ""},
		"another Job, marked":              {"a", by("batch/v1", "Job", "other"), "train", ""},
		"a ReplicaSet, marked":             {"a", by("apps/v1", "ReplicaSet", "web"), "train", ""},
		"nobody, marked":                   {"a", nil, "train", ""},
		"a Job that controls itself":       {"a", by("batch/v1", "Job", "round"), "", ""},
		"a Job that is gone":               {"a", by("batch/v1", "Job", "gone"), "", ""},
		"a Job that is gone, marked":       {"a", by("batch/v1", "Job", "gone"), "set", "set"},
		"from elsewhere":                   {"b", by("batch/v1", "Job", "train"), "", ""},
		"from elsewhere, marked":           {"b", by("batch/v1", "Job", "train"), "train", ""},
		"from elsewhere, without a Job":    {"b", nil, "train", ""},
		"from elsewhere, of a Job gone":    {"b", by("batch/v1", "Job", "gone"), "set", ""},
		"from elsewhere, part of a JobSet": {"b", by("batch/v1", "Job", "set-w-0"), "set", ""},
		"from elsewhere, of a RayCluster":  {"b", by("ray.io/v1", "RayCluster", "tune-x7k2p"), "tune", ""},
	} {
		ob, s, _ := belongs()
		s.AllPods = []*corev1.Pod{podOf(c.namespace, c.by, c.mark, 0)}
		if err := ob.findOwners(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimPrefix(s.owner(s.AllPods[0]), "uid-of-"); got != c.want {
			t.Errorf("%s: of %q, want %q", name, got, c.want)
		}
	}
}

// podOf returns a pod of a controller with a mark and GPUs.
func podOf(namespace string, of *metav1.OwnerReference, mark string, gpus int64) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: namespace, UID: types.UID("p of " + mark), Labels: map[string]string{}}}
	if of != nil {
		p.OwnerReferences = []metav1.OwnerReference{*of}
	}
	if mark != "" {
		p.Labels[v1alpha1.JobUID] = "uid-of-" + mark
	}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
		kubetest.GPU: *resource.NewQuantity(gpus, resource.DecimalSI),
	}}}}
	return p
}

// What controls an object between jobs and pods is read once, and forgotten with its last pod.
func TestOwner_reads_each_object_once(t *testing.T) {
	ob, s, c := belongs()
	s.AllPods = []*corev1.Pod{podOf("a", by("batch/v1", "Job", "run-node-0"), "", 0)}
	for range 3 {
		if err := ob.findOwners(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if got := slices.Sorted(maps.Keys(ob.parents)); c.gets != 2 || len(got) != 2 {
		t.Errorf("%d reads, and kept %v, want the Job and the JobSet once each", c.gets, got)
	}
	s.AllPods = nil
	if err := ob.findOwners(t.Context(), s); err != nil || len(ob.parents) != 0 {
		t.Errorf("kept %v, %v, want nothing", ob.parents, err)
	}
}

// Where the scheduler starts jobs, a pod with GPUs that it has not marked is no worker: what it
// holds is not free. A pod of 0 GPUs is never a worker, so no start waits for it.
func TestSort(t *testing.T) {
	train := by("batch/v1", "Job", "train")
	for name, c := range map[string]struct {
		mode           v1alpha1.Mode
		mark           string
		gpus           int64
		worker, helper bool
	}{
		"marked":                        {v1alpha1.Resize, "train", 1, true, false},
		"not marked":                    {v1alpha1.Resize, "", 1, false, false},
		"marked as of another":          {v1alpha1.Resize, "set", 1, false, false},
		"not marked, and we only watch": {v1alpha1.Recommend, "", 1, true, false},
		"marked without GPUs":           {v1alpha1.Resize, "train", 0, false, true},
	} {
		ob, s, _ := belongs()
		ob.options.Queue.Spec.Mode = c.mode
		p := podOf("a", train, c.mark, c.gpus)
		s.AllPods = []*corev1.Pod{p}
		if err := ob.findOwners(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		ob.assign(p, s)
		worker, helper := len(s.Pods["uid-of-train"]) == 1, len(s.Helpers["uid-of-train"]) == 1
		if worker != c.worker || helper != c.helper || (s.owner(p) != "") != (worker || helper) {
			t.Errorf("%s: worker %v, helper %v, of %q, want %v and %v", name, worker, helper, s.owner(p), c.worker, c.helper)
		}
	}
}

// Of a job that is gone, a pod is ours by the marks of its template, in a namespace of the queue.
func TestIsOurs(t *testing.T) {
	for name, c := range map[string]struct {
		namespace, queue, generation string
		want                         bool
	}{
		"marked":                {"b", "train", "1", true},
		"label of the queue":    {"b", "train", "", false},
		"of another queue":      {"b", "other", "1", false},
		"in another namespace":  {"c", "train", "1", false},
		"of generation nothing": {"b", "train", "0", false},
	} {
		ob, s, _ := belongs()
		p := podOf(c.namespace, nil, "", 1)
		p.Labels[v1alpha1.QueueLabel], p.Labels[v1alpha1.Generation] = c.queue, c.generation
		if got := ob.IsOurs(s)(p); got != c.want {
			t.Errorf("%s: ours %v, want %v", name, got, c.want)
		}
	}
}

// A job is part of another one if the object that it names exists, with the same uid.
func TestPartOf(t *testing.T) {
	other := by(jobSets, "JobSet", "runs-set")
	other.UID = "invented"
	for name, c := range map[string]struct {
		of   *metav1.OwnerReference
		want bool
	}{
		"no controller":              {nil, false},
		"a JobSet":                   {by(jobSets, "JobSet", "runs-set"), true},
		"a JobSet with another uid":  {other, false},
		"a JobSet that is not there": {by(jobSets, "JobSet", "none"), false},
		"a RayJob that is not there": {by("ray.io/v1", "RayJob", "none"), false},
		"a cluster of no RayJob":     {by("ray.io/v1", "RayCluster", "none-x7k2p"), false},
		"a kind that is not watched": {by("example.com/v1", "JobSet", "runs-set"), false},
	} {
		ob, _, _ := belongs()
		got, err := ob.partOf(t.Context(), &jobadapter.Job{Namespace: "a", Part: c.of})
		if err != nil || got != c.want {
			t.Errorf("%s: part of another: %v, %v, want %v", name, got, err, c.want)
		}
	}
}
