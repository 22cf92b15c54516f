package local

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

type draft struct {
	jobs    *jobTable
	holder  []job.ID // by slot; empty: free
	changed []store.Change
}

func newDraft(t *jobTable) *draft {
	d := &draft{jobs: t, holder: make([]job.ID, len(t.o.Machine.Slots))}
	for _, e := range t.Order {
		for _, s := range e.Held {
			if !e.Over {
				d.holder[s] = e.Spec.ID
			}
		}
		if e.uncommitted && !e.Over {
			_, _, _ = d.planned(e.Spec.ID)
		}
	}
	return d
}

func (d *draft) planned(id job.ID) (*store.Change, *entry, error) {
	e, err := d.jobs.Get(id)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(d.changed, func(c store.Change) bool { return c.Job == id })
	if i < 0 {
		i = len(d.changed)
		d.changed = append(d.changed, store.Change{Job: id, Generation: e.Generation, Held: e.Held, Batch: e.Batch, Status: e.Status})
	}
	return &d.changed[i], e, nil
}

func (d *draft) Preempt(a scheduler.Preempt) error {
	p, _, err := d.planned(a.Job)
	if err == nil {
		d.release(p)
	}
	return err
}

func (d *draft) release(p *store.Change) {
	for _, s := range p.Held {
		d.holder[s] = ""
	}
	p.Held = nil
}

func (d *draft) shrink(a scheduler.Run) {
	p, e, err := d.planned(a.Job)
	if n := a.Allocation.GPUs; err == nil && !e.Over && len(p.Held) > n {
		for _, s := range p.Held[n:] {
			d.holder[s] = ""
		}
		p.Held = p.Held[:n:n]
	}
}

// Run implements driver.Draft. It assigns the slots that the job already has first, then slots on other GPUs. If the
// slots change, the job gets a new generation: it is started again. A job that has ended gets no slots, because other
// jobs may use them.
func (d *draft) Run(a *scheduler.Run) error {
	p, e, err := d.planned(a.Job)
	if err != nil {
		return err
	}
	if e.Over {
		return nil
	}
	p.Batch = a.Batch
	if len(p.Held) == a.Allocation.GPUs && a.InPlace(e.Status.Allocation, e.Status.Placement) {
		return nil
	}
	had := p.Held
	d.release(p)
	for _, s := range had {
		d.give(p, s, a.Allocation.GPUs)
	}
	for s := range d.holder {
		if !d.sameGPU(p, s) {
			d.give(p, s, a.Allocation.GPUs)
		}
	}
	for s := range d.holder {
		d.give(p, s, a.Allocation.GPUs)
	}
	if len(p.Held) < a.Allocation.GPUs {
		return fmt.Errorf("job %s: the plan gives it %d GPUs, but only %d of %d slots are free", a.Job, a.Allocation.GPUs, len(p.Held), len(d.holder))
	}
	p.Generation++
	return nil
}

func (*draft) Nodes(a scheduler.Action) error {
	return fmt.Errorf("%T: a backend of one machine neither rents nor lends nodes", a)
}

func (d *draft) sameGPU(p *store.Change, slot int) bool {
	slots := d.jobs.o.Machine.Slots
	return slots[slot].Shared && slices.ContainsFunc(p.Held, func(s int) bool { return slots[s].Visible == slots[slot].Visible })
}

func (d *draft) give(p *store.Change, slot, most int) {
	if len(p.Held) < most && d.holder[slot] == "" {
		p.Held = append(p.Held, slot)
		d.holder[slot] = p.Job
	}
}
