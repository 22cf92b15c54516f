package kube

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/policy"
)

// commit writes a plan, if it says anything new, again and again while the API server does
// not take it, later each time, and no sooner than the API server asks for. In a mode that
// writes nothing it is taken as it is.
func (w *World) commit(ctx context.Context, d *draft) error {
	next := w.draw(d)
	if w.o.writes() && next != nil {
		for wait := backoff; ; wait = min(2*wait, 30*time.Second) {
			err := w.write(ctx, next)
			if err == nil {
				w.save(ctx, next)
				break
			}
			if !passes(err) {
				return fmt.Errorf("plan %s: %w", next.Name, err)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(leave(wait, err)):
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	moved := next != nil && !slices.Equal(w.plan.Spec.Loans, next.Spec.Loans)
	if next != nil {
		w.plan = next
		eventqueue.Wake(w.work) // else there is nothing new to make the cluster equal to
	}
	w.keep(d)
	if moved || len(w.groups()) > 0 {
		w.settle()
	}
	return nil
}

// passes reports whether an error may pass by itself: the plan waits for that.
func passes(err error) bool {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsRequestEntityTooLargeError(err):
		return false
	}
	return !errors.Is(err, ErrFenced)
}

// asked returns how long the API server, or what stands before it, asks with an error not to be
// asked again, longBackoff at most; 0: it does not say.
func asked(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(time.Duration(seconds)*time.Second, longBackoff)
}

// leave returns how long to leave the API server alone after an error: a time, or what it asks for.
func leave(wait time.Duration, err error) time.Duration {
	return max(wait, asked(err))
}

// write makes a plan the committed one. A conflict is looked into: if the plan that is there
// is this one, the answer to an earlier attempt was lost; if it is another leader's, this one
// has been fenced; if somebody else touched it, the plan is written over that.
func (w *World) write(ctx context.Context, next *v1alpha1.Plan) error {
	err := w.client.Update(ctx, next)
	if err == nil || !apierrors.IsConflict(err) {
		return err
	}
	var there v1alpha1.Plan
	if err := w.direct.Get(ctx, client.ObjectKeyFromObject(next), &there); err != nil {
		return err
	}
	switch {
	case there.Spec.Epoch != next.Spec.Epoch || there.Spec.Leader != next.Spec.Leader:
		return fmt.Errorf("%w: epoch %d of %s, and this is epoch %d of %s", ErrFenced, there.Spec.Epoch, there.Spec.Leader, next.Spec.Epoch, next.Spec.Leader)
	case there.Spec.Round == next.Spec.Round && there.Spec.Inputs == next.Spec.Inputs:
		next.ResourceVersion = there.ResourceVersion
		return nil
	}
	next.ResourceVersion = there.ResourceVersion
	return w.client.Update(ctx, next)
}

// draw returns the plan that a draft makes, nil if it says nothing that the last one does not.
// From here on jobs are as the scheduler sees them with that plan.
func (w *World) draw(d *draft) *v1alpha1.Plan {
	at := w.Now()
	var rows []*policy.Job
	if w.rows != nil {
		rows = w.rows(at)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range rows {
		if e := w.jobs[r.ID]; e != nil {
			e.status = r.Status
		}
	}
	next := w.plan.DeepCopy()
	next.Spec.Round++
	next.Spec.Time = metav1.NewMicroTime(at)
	next.Spec.Policy, next.Spec.Leader = w.o.Queue.Spec.Policy.Name, w.o.Identity
	if w.o.Inputs != nil {
		next.Spec.Inputs = w.o.Inputs()
	}
	next.Spec.Allocations = w.allocations(d)
	next.Spec.Loans, next.Spec.NodeGroups, next.Spec.Prices = d.loans, d.hire.groups, prices(w.seen.plan)
	if !d.changed && slices.EqualFunc(next.Spec.Allocations, w.plan.Spec.Allocations, alike) && !w.outdated(next) {
		return nil
	}
	return next
}

// alike reports whether two allocations say the same, but for the numbers of a reason and for
// what is expected.
func alike(a, b v1alpha1.JobAllocation) bool {
	return a.UID == b.UID && a.Generation == b.Generation && a.GPUs == b.GPUs && a.Reason == b.Reason
}

// allocations returns what every job holds by a draft, by submission.
func (w *World) allocations(d *draft) []v1alpha1.JobAllocation {
	var why map[job.ID]Because
	if w.o.Explain != nil && w.seen.snapshot != nil {
		why = w.o.Explain(w.seen.snapshot, w.seen.plan)
	}
	all := make([]v1alpha1.JobAllocation, 0, len(w.order))
	for _, e := range w.order {
		if e.ended {
			continue
		}
		g, changed := d.held[e.id()]
		if !changed {
			g = e.held
		}
		a := allocation(e, &g)
		a.Reason, a.Message = why[e.id()].Reason, why[e.id()].Message
		all = append(all, a)
	}
	w.foretell(all)
	return all
}

// allocation returns what a plan says of a job.
func allocation(e *entry, g *grant) v1alpha1.JobAllocation {
	a := v1alpha1.JobAllocation{
		UID: e.job.UID, Kind: e.job.Kind, Namespace: e.job.Namespace, Name: e.job.Name, Generation: g.generation,
		GPUs: int32(g.GPUs), GPUType: string(g.GPUType), MilliCPUs: int64(math.Round(1000 * g.CPUs)), MemoryBytes: g.Memory,
	}
	for _, s := range g.placement {
		a.Nodes = append(a.Nodes, v1alpha1.NodeShare{Name: string(s.Node), GPUs: int32(s.GPUs)})
	}
	if g.batch.Local > 0 {
		a.Batch = &v1alpha1.Batch{Local: int32(g.batch.Local), Accumulation: int32(g.batch.Accumulation)}
	}
	return a
}

// prices returns those of a plan that are of GPU types.
func prices(p *policy.Plan) []v1alpha1.TypePrice {
	if p == nil {
		return nil
	}
	var all []v1alpha1.TypePrice
	for _, price := range p.Prices {
		milli := math.Round(1000 * price.Price)
		if math.Abs(milli) < math.MaxInt64/2 {
			all = append(all, v1alpha1.TypePrice{GPUType: string(price.Type), Milli: int64(milli)})
		}
	}
	return all
}
