package kube

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A crowd is a client whose watches show nodes, Jobs and their pods. It writes nothing.
type crowd struct {
	client.Client
	nodes []corev1.Node
	pods  []corev1.Pod
	jobs  []unstructured.Unstructured
	byKey map[string][]corev1.Pod // pods, by key of the index, as long as there are so many
	of    int

	mu      sync.Mutex
	patches []string // what was written, by name
}

func (c *crowd) List(_ context.Context, to client.ObjectList, o ...client.ListOption) error {
	switch to := to.(type) {
	case *corev1.NodeList:
		to.Items = append(to.Items, c.nodes...)
	case *corev1.PodList:
		to.Items = append(to.Items, c.indexed(new(client.ListOptions).ApplyOptions(o))...)
	case *unstructured.UnstructuredList:
		if to.GetKind() == "Job" {
			to.Items = append(to.Items, c.jobs...)
		}
	}
	return nil
}

// indexed returns the pods of a key of the index.
func (c *crowd) indexed(o *client.ListOptions) (all []corev1.Pod) {
	if c.of != len(c.pods) {
		c.of, c.byKey = len(c.pods), map[string][]corev1.Pod{}
		for i := range c.pods {
			for _, key := range inventory.Keys(&c.pods[i]) {
				c.byKey[key] = append(c.byKey[key], c.pods[i])
			}
		}
	}
	key, _ := o.FieldSelector.RequiresExactMatch(inventory.Index)
	return c.byKey[key]
}

// Patch takes a write as the API server would if nobody else wrote.
func (c *crowd) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	c.wrote(o.GetName())
	return nil
}

func (c *crowd) Status() client.SubResourceWriter { return status{crowd: c} }

func (c *crowd) wrote(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.patches = append(c.patches, what)
}

// A status is what writes into the status of objects of a crowd.
type status struct {
	client.SubResourceWriter
	*crowd
}

func (s status) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	s.wrote(o.GetName() + "/status")
	return nil
}

// crowded returns a backend in which gangs of eight pods run, one on each node, and to each node
// three pods of others.
func crowded(t testing.TB, nodes int) (*Backend, *crowd) {
	t.Helper()
	c := &crowd{}
	o := jobstate.DefaultOptions()
	o.Queue = &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: v1alpha1.QueueSpec{
		Mode: v1alpha1.Resize, Namespaces: []v1alpha1.NamespaceShare{{Name: "x"}}, Policy: v1alpha1.PolicyRef{Name: "fifo"},
	}}
	o.Identity = "me"
	none, err := cluster.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := assemble(c, nil, &o)
	w.extent.cluster, w.extent.whole, w.table.Plan = none, none, &v1alpha1.Plan{}
	w.table.Past = map[job.ID]jobstate.Past{}
	for i := range nodes {
		c.add(t, w, i)
	}
	looks(t, w, 1)
	return w, c
}

// add adds a node, what runs there, and what the plan says of it.
func (c *crowd) add(t testing.TB, w *Backend, i int) {
	t.Helper()
	node, uid := fmt.Sprintf("node-%04d", i), fmt.Sprintf("job-%d", i)
	has := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8"), "cpu": resource.MustParse("96"), "memory": resource.MustParse("1Ti")}
	c.nodes = append(c.nodes, corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node, UID: types.UID(node), ResourceVersion: "1", Labels: map[string]string{"nvidia.com/gpu.product": "a100"}},
		Status:     corev1.NodeStatus{Allocatable: has, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	})
	c.jobs = append(c.jobs, theJob(t, uid))
	for k := range 8 {
		c.pods = append(c.pods, ours(node, uid, k))
	}
	for k := range 3 {
		c.pods = append(c.pods, pod(node, fmt.Sprintf("daemon-%d-%d", i, k), "cpu", "250m"))
	}
	w.table.Past[job.ID(uid)] = jobstate.Past{Allocation: v1alpha1.JobAllocation{
		UID: uid, Generation: 1, GPUs: 8, GPUType: "a100", Nodes: []v1alpha1.NodeShare{{Name: node, GPUs: 8}},
	}}
}

// theJob returns a running Job of eight workers.
func theJob(t testing.TB, uid string) unstructured.Unstructured {
	t.Helper()
	mode, n, no := batchv1.IndexedCompletion, int32(8), false
	j := &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name: uid, Namespace: "x", UID: types.UID(uid), ResourceVersion: "1", Labels: map[string]string{v1alpha1.QueueLabel: "q"},
			CreationTimestamp: metav1.Unix(1e9, 0),
		},
		Spec: batchv1.JobSpec{Parallelism: &n, Completions: &n, CompletionMode: &mode, Suspend: &no},
	}
	j.Spec.Template.Labels = map[string]string{v1alpha1.Generation: "1", v1alpha1.JobUID: uid}
	j.Spec.Template.Spec = pod("", "", "nvidia.com/gpu", "1").Spec
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(j)
	if err != nil {
		t.Fatal(err)
	}
	return unstructured.Unstructured{Object: o}
}

// ours returns a worker of a job's first generation.
func ours(node, uid string, i int) corev1.Pod {
	p := pod(node, fmt.Sprintf("%s-%d", uid, i), "nvidia.com/gpu", "1")
	p.Labels = map[string]string{v1alpha1.QueueLabel: "q", v1alpha1.JobUID: uid, v1alpha1.Generation: "1"}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: uid, UID: types.UID(uid), Controller: new(true)}}
	p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(i)}
	return p
}

// pod returns one that runs and requests one thing.
func pod(node, name string, what corev1.ResourceName, much string) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "x", UID: types.UID(name), ResourceVersion: "1"}}
	p.Spec.NodeName, p.Spec.RestartPolicy = node, corev1.RestartPolicyNever
	all := corev1.ResourceList{what: resource.MustParse(much)}
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "x", Resources: corev1.ResourceRequirements{Limits: all, Requests: all}}}
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return p
}

// With nothing to do a pass does nothing: every job is known as what it is.
func TestPass_of_what_is_as_planned_writes_nothing(t *testing.T) {
	w, c := crowded(t, 20)
	if len(c.patches) > 0 {
		t.Errorf("written: %v, want nothing", c.patches)
	}
	w.Lock()
	defer w.Unlock()
	for _, e := range w.table.Order {
		if !e.Started() || e.Workers() != 8 || e.UpSince.IsZero() || e.Trouble != "" || e.Failures > 0 {
			t.Errorf("job %s: started %v, %d workers, up since %v, trouble %q", e.ID, e.Started(), e.Workers(), e.UpSince, e.Trouble)
		}
	}
	if n := len(w.extent.cluster.Nodes()); n != 20 || len(w.table.Order) != 20 {
		t.Errorf("%d nodes and %d jobs, want 20 of each", n, len(w.table.Order))
	}
}

// A job is started first and told of afterwards: were its status written before, the start
// would be refused, because it is of the object as it was.
func TestPass_writes_once_of_each_job(t *testing.T) {
	w, c := crowded(t, 1)
	w.table.Plan.Spec.Allocations = []v1alpha1.JobAllocation{{UID: "job-0", GPUs: 8, Reason: "as asked"}}
	c.pods = nil
	if err := unstructured.SetNestedField(c.jobs[0].Object, true, "spec", "suspend"); err != nil {
		t.Fatal(err)
	}
	c.jobs[0].SetResourceVersion("2")
	for _, want := range []string{"[job-0]", "[job-0 job-0/status]"} {
		looks(t, w, 1)
		if got := fmt.Sprint(c.patches); got != want {
			t.Fatalf("written: %s, want %s", got, want)
		}
		_ = unstructured.SetNestedField(c.jobs[0].Object, false, "spec", "suspend") // it runs now
		c.jobs[0].SetResourceVersion("3")
	}
}

// However long it takes to look, it is done for a fifth of the time at most, and every second
// or so all the same.
func TestPause(t *testing.T) {
	for looked, want := range map[time.Duration]time.Duration{
		0: gather, 5 * time.Millisecond: gather, 50 * time.Millisecond: 200 * time.Millisecond, time.Minute: idle,
	} {
		if got := pause(looked); got != want {
			t.Errorf("looked for %v: got %v, want %v", looked, got, want)
		}
	}
}

// A pass over 1,000 nodes, 1,000 running jobs and 11,000 pods.
func BenchmarkPass(b *testing.B) {
	w, c := crowded(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.pass(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(c.pods)), "pods")
}
