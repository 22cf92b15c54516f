// Package kubetest is a simulated Kubernetes cluster for tests: controller-runtime's fake API server, with a Job
// controller, a binder and kubelets that act on demand. It checks that GPUs are not overcommitted, and that epoch
// and round of Plans never decrease.
package kubetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Names of the resource, label and namespace in use.
const (
	GPU       = corev1.ResourceName("nvidia.com/gpu")
	TypeLabel = "nvidia.com/gpu.product"
	Namespace = "team"
)

// Kubelet is the finalizer of a pod that the kubelet has not stopped.
const Kubelet = "kubetest.oxgang.dev/kubelet"

// A Cluster is a simulated Kubernetes cluster, safe for concurrent use.
type Cluster struct {
	// Before may change a request of Client or fail it. After may lose its response.
	Before, After func(*Call) error
	// Listed receives the lists of Direct and their options.
	Listed func(list client.ObjectList, o *client.ListOptions)
	// Admit may reject a pod that the Job controller creates.
	Admit func(*corev1.Pod) error
	// Unpinned also binds pods that name no node, as kube-scheduler does.
	Unpinned bool
	// Stuck keeps the kubelet from finishing jobs.
	Stuck bool

	objects

	watches sync.Mutex
	late    map[string]client.ObjectList

	work  map[types.UID]int // kubelet looks, under mu; 0: endless
	pools []*Pool
}

type objects struct {
	truth client.WithWatch

	mu     sync.Mutex
	serial int
	gpus   map[string]int // by node
	plans  map[string]*v1alpha1.Plan
	loans  map[string]string // by node
	wrong  []string
}

// New returns an empty cluster.
func New() *Cluster {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, batchv1.AddToScheme, policyv1.AddToScheme, v1alpha1.AddToScheme} {
		must(add(s))
	}
	kept := store{clienttesting.NewObjectTracker(s, serializer.NewCodecFactory(s).UniversalDecoder())}
	b := fake.NewClientBuilder().WithScheme(s).WithObjectTracker(kept).
		WithStatusSubresource(&batchv1.Job{}, &corev1.Pod{}, &v1alpha1.Plan{}, &v1alpha1.Queue{})
	for _, x := range indexes() {
		b.WithIndex(x.of, x.field, x.keys)
	}
	return &Cluster{
		objects: objects{truth: &lister{b.Build(), kept}, gpus: map[string]int{}, plans: map[string]*v1alpha1.Plan{}},
		work:    map[types.UID]int{},
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func reason(o client.Object) []string {
	return []string{o.(*corev1.Event).Reason} //nolint:forcetypeassert // the index is of events
}

func (t *objects) uid() types.UID {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serial++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", t.serial))
}

func (t *objects) Create(o client.Object) {
	o.SetUID(t.uid())
	o.SetCreationTimestamp(metav1.Now())
	must(t.truth.Create(context.Background(), o))
	t.look(o)
}

func (t *objects) Update(o client.Object) {
	status := o.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy is of the same type
	must(t.truth.Update(context.Background(), o))
	status.SetResourceVersion(o.GetResourceVersion())
	must(t.truth.Status().Update(context.Background(), status))
	o.SetResourceVersion(status.GetResourceVersion())
	t.look(status)
}

// AddNode adds a ready node.
func (t *Cluster) AddNode(name string, gpus int, gpuType string) { t.addNode(name, gpus, gpuType, nil) }

func (t *Cluster) addNode(name string, gpus int, gpuType string, labels map[string]string) {
	t.mu.Lock()
	t.gpus[name] = gpus
	t.mu.Unlock()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{TypeLabel: gpuType}}}
	maps.Copy(n.Labels, labels)
	n.Status.Allocatable = corev1.ResourceList{
		GPU: *resource.NewQuantity(int64(gpus), resource.DecimalSI), corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("512Gi"),
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	t.Create(n)
}

func (t *objects) SetReady(name string, ready bool) {
	var n corev1.Node
	must(t.truth.Get(context.Background(), client.ObjectKey{Name: name}, &n))
	n.Status.Conditions[0].Status = corev1.ConditionFalse
	if ready {
		n.Status.Conditions[0].Status = corev1.ConditionTrue
	}
	t.Update(&n)
}

// An Ask describes a job to submit.
type Ask struct {
	Name        string
	Workers     int
	GPUs        int // of each worker
	Looks       int // calls of Work until it is done; 0: endless
	Annotations map[string]string
}

// Refuse adds the Job controller's event that it cannot create a pod of job j.
func (t *Cluster) Refuse(j *batchv1.Job, why string) {
	e := &corev1.Event{Reason: "FailedCreate", Message: "Error creating: " + why, LastTimestamp: metav1.Now()}
	e.Name, e.Namespace = "refused-"+string(t.uid()), j.Namespace
	e.InvolvedObject = corev1.ObjectReference{Kind: "Job", Namespace: j.Namespace, Name: j.Name, UID: j.UID}
	t.Create(e)
}

// Submit creates a suspended Indexed Job.
func (t *Cluster) Submit(queue string, a *Ask) *batchv1.Job {
	n := int32(a.Workers) //nolint:gosec // a test's
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: a.Name, Namespace: Namespace, Labels: map[string]string{v1alpha1.QueueLabel: queue}, Annotations: a.Annotations,
	}}
	j.Spec.Suspend, j.Spec.CompletionMode = new(true), new(batchv1.IndexedCompletion)
	j.Spec.Parallelism, j.Spec.Completions = new(n), new(n)
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	q := corev1.ResourceList{GPU: *resource.NewQuantity(int64(a.GPUs), resource.DecimalSI)}
	j.Spec.Template.Spec.Containers = []corev1.Container{{Name: "train", Image: "train", Resources: corev1.ResourceRequirements{Limits: q, Requests: q}}}
	t.Create(j)
	t.mu.Lock()
	t.work[j.UID] = a.Looks
	t.mu.Unlock()
	return j
}

func (t *objects) Delete(name string) {
	j := t.Job(name)
	if j == nil {
		return
	}
	for _, p := range t.PodsOf(name) {
		must(client.IgnoreNotFound(t.truth.Delete(context.Background(), p)))
	}
	must(t.truth.Delete(context.Background(), j))
}

func (t *objects) Remove(o client.Object) {
	t.mu.Lock()
	if p := t.plans[o.GetName()]; p != nil {
		p.Spec.Round = 0
	}
	t.mu.Unlock()
	o.SetFinalizers(nil)
	must(t.truth.Update(context.Background(), o))
	must(t.truth.Delete(context.Background(), o))
}

func (t *objects) Job(name string) *batchv1.Job {
	var j batchv1.Job
	err := t.truth.Get(context.Background(), client.ObjectKey{Namespace: Namespace, Name: name}, &j)
	must(client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return &j
}

func (t *objects) Jobs() []batchv1.Job {
	var all batchv1.JobList
	must(t.truth.List(context.Background(), &all))
	return all.Items
}

func (t *objects) PodsOf(name string) []*corev1.Pod {
	var all corev1.PodList
	must(t.truth.List(context.Background(), &all, client.MatchingLabels{batchv1.JobNameLabel: name}))
	pods := make([]*corev1.Pod, len(all.Items))
	for i := range all.Items {
		pods[i] = &all.Items[i]
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

func (t *objects) Plan(queue string) *v1alpha1.Plan {
	var p v1alpha1.Plan
	err := t.truth.Get(context.Background(), client.ObjectKey{Name: queue}, &p)
	must(client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return &p
}
