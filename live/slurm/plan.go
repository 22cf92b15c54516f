package slurm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/execute"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

// Do implements scheduler.Backend: it makes the actions the plan, which Execute carries out. The plan is
// in memory only: what a scheduler that is killed has not begun to carry out is planned anew.
func (w *World) Do(ctx context.Context, actions []scheduler.Action) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, a := range actions {
		switch a := a.(type) {
		case scheduler.Preempt:
			e, err := w.entryOf(a.Job)
			if err == nil {
				e.held.allocation, e.held.placement = cluster.Allocation{}, nil
			}
			errs = append(errs, err)
		case scheduler.Run:
			errs = append(errs, w.run(&a))
		case scheduler.Profile: // Slurm has no GPUs apart from those of the plan
			e, err := w.entryOf(a.Job)
			if err == nil {
				w.events.Emit(scheduler.Profiled{Job: e.spec.ID})
			}
			errs = append(errs, err)
		case scheduler.Compute:
			w.events.Compute(ctx, &w.mu, a.Work)
		default:
			errs = append(errs, fmt.Errorf("%T: nodes of a Slurm are neither rented nor lent", a))
		}
	}
	driver.Wake(w.work)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	return nil
}

// run plans what an action says. The start is another generation unless the job stays on its GPUs.
func (w *World) run(a *scheduler.Run) error {
	e, err := w.entryOf(a.Job)
	if err != nil || e.ended || e.lost {
		return err
	}
	if e.held.batch = a.Batch; e.wants() && a.InPlace(e.held.allocation, e.held.placement) {
		return nil
	}
	e.held = grant{a.Allocation, a.Placement, e.held.generation + 1, a.Batch, time.Now()}
	if !execute.Even(a.Placement) {
		w.fail(e, "Slurm gives a job as many GPUs on each of its nodes, and the plan does not")
	}
	return nil
}
