package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/test/rig"
	"github.com/oxgang/oxgang/test/rig/audit"
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

// podOf returns an object as a pod.
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
	return !ok || slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type != batchv1.JobSuspended && c.Type != v1alpha1.ScheduledCondition && c.Status == corev1.ConditionTrue
	})
}
