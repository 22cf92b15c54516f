package e2e

import (
	"reflect"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/test/rig"
	"github.com/oxgang/oxgang/test/rig/audit"
)

// planOf gives job j GPUs in a generation.
func planOf(generation int64, gpus int32, gpu string) *v1alpha1.Plan {
	p := &v1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Name: "q"}}
	p.Spec.Allocations = []v1alpha1.JobAllocation{{UID: "u", Kind: "Job", Namespace: "default", Name: "j", Generation: generation, GPUs: gpus, GPUType: gpu}}
	return p
}

// workerOf is a worker with one GPU of generation 1 of job j.
func workerOf(index string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "j-" + index, Labels: map[string]string{v1alpha1.JobUID: "u", v1alpha1.Generation: "1"},
		Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index},
	}}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{rig.GPU: resource.MustParse("1")}}}}
	p.Status.Phase = corev1.PodRunning
	return p
}

func TestCensus(t *testing.T) {
	n := &Census{}
	a := audit.New(n)
	revision := int64(0)
	see := func(resource string, o client.Object, gone bool) {
		t.Helper()
		k := audit.Key{Resource: resource, Namespace: o.GetNamespace(), Name: o.GetName()}
		var now *audit.Object
		if !gone {
			now = &audit.Object{Key: k, Meta: o, Value: o}
		}
		revision++
		if err := a.See(revision, time.Unix(10*revision, 0), k, now); err != nil {
			t.Fatal(err)
		}
	}
	const plans, pods = "plans.oxgang.dev", "pods"
	see("jobs", &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "j", UID: "u"}}, false)
	see(plans, planOf(0, 0, ""), false)
	see(plans, planOf(1, 3, "a100"), false) // started, after 10 s
	for _, index := range []string{"0", "1", "2"} {
		see(pods, workerOf(index), false)
	}
	see(plans, planOf(1, 2, "a100"), false) // shrunk in place
	see(pods, workerOf("2"), true)
	if len(a.Findings) > 0 {
		t.Errorf("found %v, want nothing: worker 2 was to leave", a.Findings)
	}
	see(pods, workerOf("1"), true)
	if len(a.Findings) != 1 {
		t.Errorf("found %v, want that worker 1 was to stay", a.Findings)
	}
	see(plans, planOf(2, 4, "rtx"), false) // grown and moved, by a restart
	see(pods, workerOf("0"), true)
	see(plans, planOf(2, 0, ""), false) // preempted
	see(plans, planOf(3, 4, "rtx"), false)
	if len(a.Findings) != 1 {
		t.Errorf("found %v, want no more", a.Findings)
	}
	got, want := *n, Census{Plans: 5, Started: 1, Grown: 1, Shrunk: 1, Moved: 1, InPlace: 1, Preempted: 1, Restarted: 2, Longest: 10 * time.Second, Peak: 4}
	got.held = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
