package slurm

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/scheduler"
)

// Do implements scheduler.Backend: it makes the actions the plan, which Execute carries out. The plan is
// in memory only: what a scheduler that is killed has not begun to carry out is planned anew.
func (b *Backend) Do(ctx context.Context, actions []scheduler.Action) error {
	b.Lock()
	defer b.Unlock()
	defer driver.Wake(b.Work)
	if err := b.Apply(ctx, actions, plan{b}); err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	return nil
}

// A plan is that of a Backend, which takes effect at once.
type plan struct{ b *Backend }

// Preempt implements driver.Draft.
func (p plan) Preempt(a scheduler.Preempt) error {
	e, err := p.b.Get(a.Job)
	if err == nil {
		release(e)
	}
	return err
}

// Nodes implements driver.Draft.
func (plan) Nodes(a scheduler.Action) error {
	return fmt.Errorf("%T: nodes of a Slurm are neither rented nor lent", a)
}

// Run implements driver.Draft. The start is another generation unless the job stays on its GPUs.
func (p plan) Run(a *scheduler.Run) error {
	e, err := p.b.Get(a.Job)
	if err != nil || e.Over || e.Lost {
		return err
	}
	if e.held.batch = a.Batch; e.wants() && a.InPlace(e.held.allocation, e.held.placement) {
		return nil
	}
	e.held = grant{a.Allocation, a.Placement, e.held.generation + 1, a.Batch, time.Now()}
	if !Even(a.Placement) {
		p.b.fail(e, "Slurm gives a job as many GPUs on each of its nodes, and the plan does not")
	}
	return nil
}
