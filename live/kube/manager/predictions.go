package manager

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

func expected(all map[job.ID]driver.Prediction) map[job.ID]jobstate.Expected {
	if all == nil {
		return nil
	}
	out := make(map[job.ID]jobstate.Expected, len(all))
	for id, p := range all {
		x := jobstate.Expected{Unblock: p.Unblock}
		if !p.From.IsZero() {
			x.ETA = eta(&p.ETA, p.From)
		}
		out[id] = x
	}
	return out
}

func eta(e *whatif.ETA, from time.Time) *v1alpha1.ETA {
	all := &v1alpha1.ETA{}
	if e.Start.Unreliable() == "" {
		all.Start = timeRange(&e.Start, from)
	}
	if e.Unreliable() == "" {
		all.End = timeRange(&e.End, from)
	}
	if all.Start == nil && all.End == nil {
		return nil
	}
	return all
}

func timeRange(r *whatif.Range, from time.Time) *v1alpha1.TimeRange {
	if r.Why != whatif.Known {
		return nil
	}
	at := func(d time.Duration) *metav1.Time {
		t := metav1.NewTime(from.Add(d).Truncate(time.Second))
		return &t
	}
	if r.Open {
		return &v1alpha1.TimeRange{Earliest: at(r.Early), Likely: at(r.Likely)}
	}
	return &v1alpha1.TimeRange{Earliest: at(r.Early), Likely: at(r.Likely), Latest: at(r.Late)}
}
