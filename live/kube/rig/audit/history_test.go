package audit

import (
	"maps"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// A history is made up: one revision per put or delete, one second apart.
type history struct {
	t   *testing.T
	a   *Auditor
	rev int64
	at  time.Time
}

func newHistory(t *testing.T, checks ...Check) *history {
	t.Helper()
	return &history{t: t, a: New(checks...), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (h *history) put(objects ...metav1.Object) {
	for _, o := range objects {
		h.write(keyOf(o), &Object{keyOf(o), o, o.(runtime.Object)})
	}
}

func (h *history) del(o metav1.Object) { h.write(keyOf(o), nil) }

func (h *history) write(k Key, o *Object) {
	h.t.Helper()
	h.rev++
	h.pass(time.Second)
	if err := h.a.See(h.rev, h.at, k, o); err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) pass(d time.Duration) { h.at = h.at.Add(d) }

func keyOf(o metav1.Object) Key {
	r := ""
	switch o.(type) {
	case *corev1.Pod:
		r = pods
	case *corev1.Node:
		r = nodes
	case *batchv1.Job:
		r = "jobs"
	case *v1alpha1.Plan:
		r = plans
	case *v1alpha1.Queue:
		r = queues
	}
	return Key{r, o.GetNamespace(), o.GetName()}
}

// node has 8 GPUs, so many of which are for pods.
func node(name string, gpus int64) *corev1.Node {
	list := func(n int64) corev1.ResourceList {
		return corev1.ResourceList{
			GPU: *resource.NewQuantity(n, resource.DecimalSI), corev1.ResourceCPU: resource.MustParse("16"),
			corev1.ResourceMemory: resource.MustParse("64Gi"),
		}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Status: corev1.NodeStatus{
			Capacity: list(8), Allocatable: list(gpus),
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func lent(name, queue string) *corev1.Node {
	n := node(name, 8)
	n.Labels = map[string]string{v1alpha1.LoanLabel: queue}
	return n
}

// A podOption says what is special about a pod.
type podOption func(*corev1.Pod)

func pod(name string, gpus int64, options ...podOption) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name), Labels: map[string]string{}}}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{GPU: *resource.NewQuantity(gpus, resource.DecimalSI)},
	}}}
	for _, f := range options {
		f(p)
	}
	return p
}

func on(node string) podOption { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func phase(x corev1.PodPhase) podOption { return func(p *corev1.Pod) { p.Status.Phase = x } }

func requests(r corev1.ResourceName, q string) podOption {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests[r] = resource.MustParse(q) }
}

func held(p *corev1.Pod) {
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: v1alpha1.PlacementGate}}
}

func deleting(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func pin(node string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchFields: []corev1.NodeSelectorRequirement{{
					Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node},
				}},
			}}},
		}}
	}
}

func of(uid string, generation int64) podOption {
	return func(p *corev1.Pod) {
		maps.Copy(p.Labels, map[string]string{
			v1alpha1.JobUID: uid, v1alpha1.Generation: strconv.FormatInt(generation, 10),
		})
	}
}

func written(epoch int64) podOption {
	return func(p *corev1.Pod) {
		p.Annotations = map[string]string{v1alpha1.Epoch: strconv.FormatInt(epoch, 10)}
	}
}

// job is of queue q; how it ended, if it has.
func job(uid string, how ...batchv1.JobConditionType) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: uid, UID: types.UID(uid), Labels: map[string]string{v1alpha1.QueueLabel: "q"},
		Annotations: map[string]string{v1alpha1.NonPreemptible: "true"},
	}}
	for _, c := range how {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue})
	}
	return j
}

// plan is that of queue q.
func plan(epoch, round int64, allocations ...v1alpha1.JobAllocation) *v1alpha1.Plan {
	return &v1alpha1.Plan{
		ObjectMeta: metav1.ObjectMeta{Name: "q", UID: "plan"},
		Spec:       v1alpha1.PlanSpec{Epoch: epoch, Round: round, Allocations: allocations},
	}
}

func gives(uid string, generation int64, gpus int32, node string) v1alpha1.JobAllocation {
	a := v1alpha1.JobAllocation{UID: uid, Namespace: "team", Name: uid, Generation: generation, GPUs: gpus}
	if gpus > 0 {
		a.Nodes = []v1alpha1.NodeShare{{Name: node, GPUs: gpus}}
	}
	return a
}
