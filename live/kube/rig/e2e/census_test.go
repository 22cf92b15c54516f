package e2e

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// A Census counts what plans did with jobs, and holds that workers of a job which is resized in
// place are not stopped if they are to stay.
type Census struct {
	Plans     int // versions of plans that changed what jobs hold
	Started   int
	Grown     int
	Shrunk    int
	Moved     int           // to another GPU type
	InPlace   int           // of those grown or shrunk, without a new generation
	Preempted int           // lost all their GPUs
	Restarted int           // given GPUs again after that, or a new generation
	Longest   time.Duration // that a job was without GPUs, at once
	Peak      int           // GPUs that were planned at once

	held map[string]*holding
}

// A holding is what a job held in the last plan that named it.
type holding struct {
	v1alpha1.JobAllocation
	since time.Time // when it came, or lost its GPUs
	ran   bool
}

// Name implements audit.Check.
func (*Census) Name() string { return "resized in place" }

// See implements audit.Check.
func (n *Census) See(s *audit.State, c *audit.Change) []audit.Finding {
	if n.held == nil {
		n.held = map[string]*holding{}
	}
	if c.New != nil {
		if p, ok := c.New.Value.(*v1alpha1.Plan); ok {
			n.plan(p, c.Time)
		}
	}
	return n.pod(s, c)
}

// plan counts what is new in a plan.
func (n *Census) plan(p *v1alpha1.Plan, at time.Time) {
	gpus, changed := 0, false
	for i := range p.Spec.Allocations {
		a := &p.Spec.Allocations[i]
		gpus += int(a.GPUs)
		h := n.held[a.UID]
		if h == nil {
			h = &holding{since: at}
			n.held[a.UID] = h
		}
		changed = h.take(n, a, at) || changed
	}
	n.Peak = max(n.Peak, gpus)
	if changed {
		n.Plans++
	}
}

// take counts how a job comes to hold what a plan says, and reports whether that is new.
func (h *holding) take(n *Census, a *v1alpha1.JobAllocation, at time.Time) bool {
	old := h.JobAllocation
	h.JobAllocation = *a
	switch {
	case old.GPUs == 0 && a.GPUs == 0 || old.Generation == a.Generation && old.GPUs == a.GPUs:
		return false
	case a.GPUs == 0:
		n.Preempted++
		h.since = at
		return true
	case old.GPUs == 0:
		n.Longest = max(n.Longest, at.Sub(h.since))
	}
	n.Started += count(!h.ran)
	n.Restarted += count(h.ran && a.Generation != old.Generation)
	n.Grown += count(old.GPUs > 0 && a.GPUs > old.GPUs)
	n.Shrunk += count(a.GPUs < old.GPUs)
	n.Moved += count(old.GPUs > 0 && a.GPUType != old.GPUType)
	n.InPlace += count(old.GPUs > 0 && a.Generation == old.Generation)
	h.ran = true
	return true
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// pod finds a worker that is stopped although the plan has it.
func (n *Census) pod(s *audit.State, c *audit.Change) []audit.Finding {
	if c.Old == nil {
		return nil
	}
	old, ok := c.Old.Value.(*corev1.Pod)
	if !ok || old.DeletionTimestamp != nil || old.Status.Phase != corev1.PodRunning {
		return nil
	}
	if now, ok := podOf(c.New); ok && now.DeletionTimestamp == nil {
		return nil
	}
	h := n.held[old.Labels[v1alpha1.JobUID]]
	if h == nil || h.GPUs == 0 || old.Labels[v1alpha1.Generation] != strconv.FormatInt(h.Generation, 10) || ends(s, h) {
		return nil
	}
	index, err := strconv.Atoi(old.Annotations[batchv1.JobCompletionIndexAnnotation])
	per := old.Spec.Containers[0].Resources.Limits[rig.GPU]
	if err != nil || index >= int(int64(h.GPUs)/max(1, per.Value())) {
		return nil
	}
	return []audit.Finding{{Check: n.Name(), Revision: c.Revision, Object: c.Key, Message: fmt.Sprintf(
		"worker %d is stopped, and %s is to have %d GPUs in its generation %d", index, h.Name, h.GPUs, h.Generation)}}
}

func podOf(o *audit.Object) (*corev1.Pod, bool) {
	if o == nil {
		return nil, false
	}
	p, ok := o.Value.(*corev1.Pod)
	return p, ok
}

// ends reports whether a job has ended, or is about to.
func ends(s *audit.State, h *holding) bool {
	o := s.Get(audit.Key{Resource: "jobs", Namespace: h.Namespace, Name: h.JobAllocation.Name})
	if o == nil {
		return true
	}
	j, ok := o.Value.(*batchv1.Job)
	if ok && j.Spec.Completions != nil && j.Status.Succeeded >= *j.Spec.Completions {
		return true // its other workers came as its training ended
	}
	return !ok || slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type != batchv1.JobSuspended && c.Type != v1alpha1.ScheduledCondition && c.Status == corev1.ConditionTrue
	})
}

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
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "j", UID: "u"}}
	j.Spec.Completions, j.Status.Succeeded = new(int32(2)), 2
	see("jobs", j, false)
	late := workerOf("3")
	late.Labels[v1alpha1.Generation] = "3"
	see(pods, late, false)
	see(pods, late, true)
	if len(a.Findings) != 1 {
		t.Errorf("found %v, want no more: the job has all completions", a.Findings)
	}
	got, want := *n, Census{Plans: 5, Started: 1, Grown: 1, Shrunk: 1, Moved: 1, InPlace: 1, Preempted: 1, Restarted: 2, Longest: 10 * time.Second, Peak: 4}
	got.held = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
