package planstore

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
)

// ForetellEvery is the shortest time between writes for new predictions alone. A prediction must have moved by at least
// this time, and by 1/foretellPart of the time until it.
const (
	ForetellEvery = time.Minute
	foretellPart  = 10
)

// FillExpected sets the predictions in allocations from expect, or, if it returns nil, from the last plan. A job that
// lost its GPUs gets no Unblock.
func FillExpected(expect func() map[job.ID]jobstate.Expected, last *v1alpha1.Plan, allocations []v1alpha1.JobAllocation) {
	if expect == nil {
		return
	}
	expected := expect()
	if expected == nil {
		expected = Predictions(last)
	}
	for i := range allocations {
		x := expected[job.ID(allocations[i].UID)]
		allocations[i].Unblock, allocations[i].ETA = x.Unblock, x.ETA
		if allocations[i].GPUs > 0 {
			allocations[i].Unblock, allocations[i].ETA = "", afterStart(x.ETA)
		}
		if allocations[i].Unblock != "" && hadGPUs(last, allocations[i].UID) {
			allocations[i].Unblock = ""
		}
	}
}

func hadGPUs(p *v1alpha1.Plan, uid string) bool {
	return p != nil && slices.ContainsFunc(p.Spec.Allocations, func(a v1alpha1.JobAllocation) bool { return a.UID == uid && a.GPUs > 0 })
}

// Predictions returns the predictions in a plan.
func Predictions(p *v1alpha1.Plan) map[job.ID]jobstate.Expected {
	all := make(map[job.ID]jobstate.Expected, len(p.Spec.Allocations))
	for i := range p.Spec.Allocations {
		a := &p.Spec.Allocations[i]
		all[job.ID(a.UID)] = jobstate.Expected{Unblock: a.Unblock, ETA: a.ETA}
	}
	return all
}

func afterStart(e *v1alpha1.ETA) *v1alpha1.ETA {
	if e == nil || e.End == nil {
		return nil
	}
	return &v1alpha1.ETA{End: e.End}
}

// Outdated reports whether plan next must be written for new predictions or unsaved measurements, although its
// decisions equal those in last.
func Outdated(last, next *v1alpha1.Plan, unsaved bool) bool {
	now := next.Spec.Time.Time
	if now.Sub(last.Spec.Time.Time) < ForetellEvery {
		return false
	}
	if unsaved {
		return true
	}
	for i := range next.Spec.Allocations {
		a, b := &last.Spec.Allocations[i], &next.Spec.Allocations[i]
		if a.Unblock != b.Unblock || moved(a.ETA, b.ETA, now) {
			return true
		}
	}
	return false
}

func moved(a, b *v1alpha1.ETA, now time.Time) bool {
	if a == nil || b == nil {
		return a != b
	}
	return rangeMoved(a.Start, b.Start, now) || rangeMoved(a.End, b.End, now)
}

func rangeMoved(a, b *v1alpha1.TimeRange, now time.Time) bool {
	if a == nil || b == nil {
		return a != b
	}
	return timeMoved(a.Earliest, b.Earliest, now) || timeMoved(a.Latest, b.Latest, now)
}

func timeMoved(a, b *metav1.Time, now time.Time) bool {
	if a == nil || b == nil {
		return a != b
	}
	return b.Sub(a.Time).Abs() > max(ForetellEvery, b.Sub(now)/foretellPart)
}
