package kube

import (
	"context"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// save writes what is to outlive this leader into a plan's status. A failure loses some of the
// history of jobs should this leader end now, and no more.
func (w *World) save(ctx context.Context, p *v1alpha1.Plan) {
	w.mu.Lock()
	p.Status.Jobs, w.background.unsaved = statesOf(w.table), false
	w.mu.Unlock()
	if err := w.store.Save(ctx, p); err != nil {
		w.o.Log.Warn("the history of jobs was not saved", "queue", p.Name, "err", err)
	}
}

// statesOf returns what is known of jobs that have not ended.
func statesOf(t *jobstate.Table) []v1alpha1.JobState {
	var all []v1alpha1.JobState
	most := jobstate.MostReports / max(1, len(t.Order))
	for _, e := range t.Order {
		if !e.Ended {
			s := e.State()
			s.Reports = e.LearnedText(most)
			all = append(all, s)
		}
	}
	return all
}
