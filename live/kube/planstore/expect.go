package planstore

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/model/job"
)

// A plan is written for nothing but what is expected at most so often, and only if a time has
// moved by more than that and by more than a tenth of what there is until then.
const (
	ForetellEvery = time.Minute
	foretellPart  = 10
)

// FillExpected fills in what is expected of the jobs of a plan. As long as nothing is known, what
// the last plan said holds. Of a job that the plan stops, what would help was found out before it, if at all: nothing is said.
func FillExpected(expect func() map[job.ID]config.Expected, last *v1alpha1.Plan, all []v1alpha1.JobAllocation) {
	if expect == nil {
		return
	}
	expected := expect()
	if expected == nil {
		expected = Said(last)
	}
	for i := range all {
		x := expected[job.ID(all[i].UID)]
		all[i].Unblock, all[i].ETA = x.Unblock, x.ETA
		if all[i].GPUs > 0 {
			all[i].Unblock, all[i].ETA = "", afterStart(x.ETA)
		}
		if all[i].Unblock != "" && ran(last, all[i].UID) {
			all[i].Unblock = ""
		}
	}
}

// ran reports whether a job had GPUs by a plan.
func ran(p *v1alpha1.Plan, uid string) bool {
	return p != nil && slices.ContainsFunc(p.Spec.Allocations, func(a v1alpha1.JobAllocation) bool { return a.UID == uid && a.GPUs > 0 })
}

// Said returns what a plan says is expected.
func Said(p *v1alpha1.Plan) map[job.ID]config.Expected {
	all := make(map[job.ID]config.Expected, len(p.Spec.Allocations))
	for i := range p.Spec.Allocations {
		a := &p.Spec.Allocations[i]
		all[job.ID(a.UID)] = config.Expected{Unblock: a.Unblock, ETA: a.ETA}
	}
	return all
}

// afterStart returns what is still to be expected of a job that has GPUs; nil: nothing.
func afterStart(e *v1alpha1.ETA) *v1alpha1.ETA {
	if e == nil || e.End == nil {
		return nil
	}
	return &v1alpha1.ETA{End: e.End}
}

// Outdated reports whether a plan is to be written again for what is expected of its jobs, or for
// what they have measured and no leader after this one would know:
// next has the same jobs in the same order, and differs in nothing else.
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

// moved reports whether what is expected has changed by enough to be told.
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
