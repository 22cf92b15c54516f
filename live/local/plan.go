package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// hook is called with the name of a step wherever a crash would matter; tests replace it.
var hook = func(_ string) {}

// Do implements scheduler.Backend: it commits the plan as changed by the actions; the executor
// carries it out. While the disk is full, Do waits, and running jobs go on.
func (w *World) Do(ctx context.Context, actions []scheduler.Action) error {
	w.mu.Lock()
	changed, err := w.apply(ctx, actions)
	w.mu.Unlock()
	if err != nil || len(changed) == 0 {
		return err
	}
	return w.commit(ctx, w.plan(changed))
}

// apply returns the changes that the actions make to the plan. It changes nothing else, except what
// needs no commit.
func (w *World) apply(ctx context.Context, actions []scheduler.Action) ([]store.Change, error) {
	d := newDraft(w.jobs)
	for _, a := range actions { // a job may grow by what a later one in the list gives up
		if run, ok := a.(scheduler.Run); ok {
			d.shrink(run)
		}
	}
	for _, a := range actions {
		var err error
		switch a := a.(type) {
		case scheduler.Preempt:
			err = d.preempt(a)
		case scheduler.Run:
			err = d.run(a)
		case scheduler.Profile: // a job is profiled while it trains, by its own agent
			if _, err = w.jobs.get(a.Job); err == nil {
				w.jobs.events.Emit(scheduler.Profiled{Job: a.Job})
			}
		case scheduler.Compute:
			w.jobs.events.Compute(ctx, &w.mu, a.Work)
		default:
			err = fmt.Errorf("%T: nodes of one machine are neither rented nor lent", a)
		}
		if err != nil {
			return nil, fmt.Errorf("local: %w", err)
		}
	}
	return d.changed, nil
}

// plan completes what is to be committed with how the scheduler sees its jobs now.
func (w *World) plan(changed []store.Change) *store.Plan {
	now := w.Now()
	if w.follow != nil {
		rows := w.follow(now)
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
	p.Changes = slices.DeleteFunc(p.Changes, func(c store.Change) bool { return w.jobs.byID[c.Job] == nil || w.jobs.byID[c.Job].ended })
	for i := range p.Changes {
		p.Changes[i].Failures = w.jobs.byID[p.Changes[i].Job].Failures // as of now: it may have failed meanwhile
	}
	hook("plan: before commit")
	err := w.jobs.store.Commit(p)
	if w.unwritten = ""; err != nil {
		w.unwritten = "cannot write plans, so everything stays as it is: " + err.Error()
		return err
	}
	hook("plan: committed")
	for i := range p.Changes {
		e := w.jobs.byID[p.Changes[i].Job]
		if e.lost && e.Generation != p.Changes[i].Generation {
			w.jobs.retractLoss(e)
		}
		e.commit(&p.Changes[i])
	}
	driver.Wake(w.jobs.work)
	return nil
}
