package kube

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Do implements scheduler.Backend. It waits while the API server does not answer.
func (w *Backend) Do(ctx context.Context, actions []scheduler.Action) error {
	w.Lock()
	d, err := w.apply(ctx, actions)
	w.Unlock()
	if err != nil {
		return fmt.Errorf("kube: %w", err)
	}
	return w.commit(ctx, d)
}

func (w *Backend) apply(ctx context.Context, actions []scheduler.Action) (*draft, error) {
	d := w.draft()
	d.expire()
	if err := w.Apply(ctx, actions, d); err != nil {
		return nil, err
	}
	w.nodes.Rented.Committing = true
	return d, nil
}

func (w *Backend) commit(ctx context.Context, d *draft) error {
	next := w.draw(d)
	writes := w.o.Writes() && next != nil
	if writes {
		if err := w.store.Commit(ctx, next); err != nil {
			return err
		}
	}
	w.adopt(d, next)
	if writes {
		w.save(ctx, next)
	}
	return nil
}

func (w *Backend) adopt(d *draft, next *v1alpha1.Plan) {
	w.Lock()
	defer w.Unlock()
	moved := next != nil && !slices.Equal(w.table.Plan.Spec.Loans, next.Spec.Loans)
	if next != nil {
		w.table.Plan = next
		driver.Wake(w.Work)
	}
	w.applyGrants(d)
	if moved || len(w.nodes.Groups()) > 0 {
		w.settle()
	}
}

func (w *Backend) draw(d *draft) *v1alpha1.Plan {
	at := w.Now()
	var rows []*policy.Job
	if w.Jobs != nil {
		rows = w.Jobs(at)
	}
	w.Lock()
	defer w.Unlock()
	for _, r := range rows {
		if e := w.table.ByID[r.ID]; e != nil {
			e.Status = r.Status
		}
	}
	next := w.table.Plan.DeepCopy()
	next.Spec.Round++
	next.Spec.Time = metav1.NewMicroTime(at)
	next.Spec.Policy, next.Spec.Leader = w.o.Queue.Spec.Policy.Name, w.o.Identity
	if w.o.Inputs != nil {
		next.Spec.Inputs = w.o.Inputs()
	}
	why := w.reasons()
	next.Spec.Allocations = d.allocations(why)
	next.Spec.Loans, next.Spec.NodeGroups, next.Spec.Prices = d.loans, d.request.groups, planstore.Prices(w.Plan)
	if !d.changed && slices.EqualFunc(next.Spec.Allocations, w.table.Plan.Spec.Allocations, jobstate.Alike) && !planstore.Outdated(w.table.Plan, next, w.background.unsaved) {
		return nil
	}
	for i := range next.Spec.Allocations {
		if a := &next.Spec.Allocations[i]; why != nil {
			a.Message = why.Text(job.ID(a.UID))
		}
	}
	return next
}

func (w *Backend) reasons() jobstate.Reasons {
	if w.o.Explain == nil || w.Snapshot == nil {
		return nil
	}
	return reasons{w.o.Explain(w.Snapshot, w.Plan), w}
}

func (d *draft) allocations(why jobstate.Reasons) []v1alpha1.JobAllocation {
	w := d.w
	all := make([]v1alpha1.JobAllocation, 0, len(w.table.Order))
	for _, e := range w.table.Order {
		if e.Ended() {
			continue
		}
		g, changed := d.held[e.ID]
		if !changed {
			g = e.Held
		}
		a := jobstate.Allocation(e, &g)
		if why != nil {
			a.Reason = why.Reason(e.ID)
		}
		all = append(all, a)
	}
	planstore.FillExpected(w.o.Expect, w.table.Plan, all)
	if r, is := why.(reasons); is {
		for i := range all {
			if r.waits(job.ID(all[i].UID)) != "" {
				all[i].Unblock = ""
			}
		}
	}
	return all
}

func (w *Backend) save(ctx context.Context, p *v1alpha1.Plan) {
	w.Lock()
	if !w.store.Due() {
		w.background.unsaved = true
		w.Unlock()
		return
	}
	own := *p // other goroutines read p
	own.Status.Jobs, w.background.unsaved = statesOf(w.table), false
	w.Unlock()
	err := w.store.Save(ctx, &own)
	w.Lock()
	defer w.Unlock()
	p.Status.Jobs = own.Status.Jobs
	if err != nil {
		w.o.Log.Warn("job history was not saved", "queue", p.Name, "err", err)
		return
	}
	p.ObjectMeta = own.ObjectMeta
}

func statesOf(t *jobstate.Table) []v1alpha1.JobState {
	var all []v1alpha1.JobState
	most := jobstate.MostReports / max(1, len(t.Order))
	for _, e := range t.Order {
		if !e.Ended() {
			s := e.State()
			s.Reports = e.LearnedText(most)
			all = append(all, s)
		}
	}
	return all
}

func (w *Backend) applyGrants(d *draft) {
	for _, e := range w.table.Order {
		g, changed := d.held[e.ID]
		e.Move(jobstate.Commit)
		if !changed || e.Ended() {
			continue
		}
		if g.Generation != e.Held.Generation {
			e.Since = time.Now()
			e.Move(jobstate.Granted)
			w.table.RetractLoss(e)
		}
		e.Held = g
		w.describe(e)
	}
	w.nodes.KeepRented(d.request.refused)
}
