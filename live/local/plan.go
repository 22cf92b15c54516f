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
	w.Lock()
	changed, err := w.apply(ctx, actions)
	w.Unlock()
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
	if err := w.Apply(ctx, actions, d); err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	return d.changed, nil
}

// plan completes what is to be committed with how the scheduler sees its jobs now.
func (w *World) plan(changed []store.Change) *store.Plan {
	now := w.Now()
	if w.Jobs != nil {
		rows := w.Jobs(now)
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
	w.Lock()
	defer w.Unlock()
	p.Changes = slices.DeleteFunc(p.Changes, func(c store.Change) bool { return w.jobs.ByID[c.Job] == nil || w.jobs.ByID[c.Job].Over })
	for i := range p.Changes {
		p.Changes[i].Failures = w.jobs.ByID[p.Changes[i].Job].Failures // as of now: it may have failed meanwhile
	}
	hook("plan: before commit")
	err := w.jobs.store.Commit(p)
	if w.unwritten = ""; err != nil {
		w.unwritten = "cannot write plans, so everything stays as it is: " + err.Error()
		return err
	}
	hook("plan: committed")
	for i := range p.Changes {
		e := w.jobs.ByID[p.Changes[i].Job]
		if e.Lost && e.Generation != p.Changes[i].Generation {
			w.RetractLoss(e)
		}
		e.commit(&p.Changes[i])
	}
	driver.Wake(w.jobs.Work)
	return nil
}
