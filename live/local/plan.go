package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// hook is called with the name of every step that a crash may come between; tests replace it.
var hook = func(_ string) {}

// Do implements scheduler.Backend: it commits what the actions make of the plan and leaves
// the rest to the executor. While the store is full it waits: what runs goes on.
func (w *World) Do(ctx context.Context, actions []scheduler.Action) error {
	w.mu.Lock()
	changed, err := w.apply(ctx, actions)
	w.mu.Unlock()
	if err != nil || len(changed) == 0 {
		return err
	}
	return w.commit(ctx, w.plan(changed))
}

// apply returns the jobs whose share of the plan the actions change, as they will be. It
// changes nothing but what needs no commit.
func (w *World) apply(ctx context.Context, actions []scheduler.Action) ([]store.Change, error) {
	d := w.draft()
	for _, a := range actions {
		var err error
		switch a := a.(type) {
		case scheduler.Preempt:
			err = d.preempt(a)
		case scheduler.Run:
			err = d.run(a)
		case scheduler.Profile: // a job is profiled while it trains, by its own agent
			if _, err = w.entry(a.Job); err == nil {
				w.emit(scheduler.Profiled{Job: a.Job})
			}
		case scheduler.Compute:
			w.computing++
			go w.compute(ctx, a.Work)
		default:
			err = fmt.Errorf("%T: nodes of one machine are neither rented nor lent", a)
		}
		if err != nil {
			return nil, fmt.Errorf("local: %w", err)
		}
	}
	return d.changed, nil
}

func (w *World) compute(ctx context.Context, work policy.Work) {
	result := work.Do(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.computing--
	w.emit(scheduler.Computed{Result: result})
}

// plan completes what is to be committed with how the scheduler sees its jobs now.
func (w *World) plan(changed []store.Change) *store.Plan {
	now := w.Now()
	if w.rows != nil {
		rows := w.rows(now)
		for i := range changed {
			j := slices.IndexFunc(rows, func(r *policy.Job) bool { return r.ID == changed[i].Job })
			if j >= 0 {
				changed[i].Status = rows[j].Status
			}
		}
	}
	w.round++
	return &store.Plan{Round: w.round, Time: now, Changes: changed}
}

// commit writes a plan, again and again while the disk is full.
func (w *World) commit(ctx context.Context, p *store.Plan) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := w.write(p)
		if !errors.Is(err, store.ErrFull) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// write makes a plan the committed one, but for jobs that have ended meanwhile.
func (w *World) write(p *store.Plan) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.Changes = slices.DeleteFunc(p.Changes, func(c store.Change) bool { return w.jobs[c.Job] == nil || w.jobs[c.Job].ended })
	for i := range p.Changes {
		p.Changes[i].Failures = w.jobs[p.Changes[i].Job].Failures // as of now: it may have failed meanwhile
	}
	hook("plan: before commit")
	err := w.store.Commit(p)
	if w.banner = ""; err != nil {
		w.banner = "cannot write plans, so everything stays as it is: " + err.Error()
		return err
	}
	hook("plan: committed")
	for i := range p.Changes {
		e := w.jobs[p.Changes[i].Job]
		if e.lost && e.Generation != p.Changes[i].Generation {
			w.retract(e)
		}
		e.take(&p.Changes[i])
	}
	eventqueue.Wake(w.work)
	return nil
}

// take takes over what was committed.
func (e *entry) take(p *store.Change) {
	if p.Generation != e.Generation {
		e.planned = time.Now()
	}
	e.unsaid = false
	e.Generation, e.Held, e.Batch, e.Status = p.Generation, p.Held, p.Batch, p.Status
}

// A draft is a plan in the making: who holds which slots.
type draft struct {
	w       *World
	holder  []job.ID // of each slot; empty: nobody
	changed []store.Change
}

func (w *World) draft() *draft {
	d := &draft{w: w, holder: make([]job.ID, len(w.o.Machine.Slots))}
	for _, e := range w.order {
		for _, s := range e.Held {
			if !e.ended {
				d.holder[s] = e.Spec.ID
			}
		}
		if e.unsaid && !e.ended {
			_, _, _ = d.planned(e.Spec.ID)
		}
	}
	return d
}

// planned returns a job's share, as it is so far.
func (d *draft) planned(id job.ID) (*store.Change, *entry, error) {
	e, err := d.w.entry(id)
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

func (d *draft) preempt(a scheduler.Preempt) error {
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

// run gives a job slots, those it has first, and makes that a new generation unless it stays
// on the very same. One that has ended, of which the scheduler is still to hear, gets none:
// what it held is others' already.
func (d *draft) run(a scheduler.Run) error {
	p, e, err := d.planned(a.Job)
	if err != nil {
		return err
	}
	if e.ended {
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
		d.give(p, s, a.Allocation.GPUs)
	}
	if len(p.Held) < a.Allocation.GPUs {
		return fmt.Errorf("job %s: allocated %d GPUs, and %d of %d slots are free", a.Job, a.Allocation.GPUs, len(p.Held), len(d.holder))
	}
	p.Generation++
	return nil
}

// give gives a free slot to a job that has fewer than it is to have.
func (d *draft) give(p *store.Change, slot, most int) {
	if len(p.Held) < most && d.holder[slot] == "" {
		p.Held = append(p.Held, slot)
		d.holder[slot] = p.Job
	}
}
