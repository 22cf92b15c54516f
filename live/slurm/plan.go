package slurm

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/scheduler"
)

// Do implements scheduler.Backend. It stores the plan only in memory: after a restart, the scheduler plans again.
func (b *Backend) Do(ctx context.Context, actions []scheduler.Action) error {
	b.Lock()
	defer b.Unlock()
	defer driver.Wake(b.Work)
	if err := b.Apply(ctx, actions, plan{b}); err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	return nil
}

type plan struct{ b *Backend }

func (p plan) Preempt(a scheduler.Preempt) error {
	e, err := p.b.Get(a.Job)
	if err == nil {
		release(e)
	}
	return err
}

func (plan) Nodes(a scheduler.Action) error {
	return fmt.Errorf("%T: a Slurm backend neither rents nor lends nodes", a)
}

func (p plan) Run(a *scheduler.Run) error {
	e, err := p.b.Get(a.Job)
	if err != nil || e.Over || e.Lost {
		return err
	}
	if e.planned.batch = a.Batch; e.wants() && a.InPlace(e.planned.allocation, e.planned.placement) {
		return nil
	}
	e.planned = grant{a.Allocation, a.Placement, e.planned.generation + 1, a.Batch, time.Now()}
	if !isEven(a.Placement) {
		p.b.fail(e, "Slurm needs the same number of GPUs on each node of a job; the plan has different numbers")
	}
	return nil
}
