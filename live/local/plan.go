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

var hook = func(_ string) {}

// Do implements scheduler.Backend: it commits the changed plan. While the disk is full, it waits; running jobs
// continue.
func (b *Backend) Do(ctx context.Context, actions []scheduler.Action) error {
	b.Lock()
	changed, err := b.apply(ctx, actions)
	b.Unlock()
	if err != nil || len(changed) == 0 {
		return err
	}
	return b.commit(ctx, b.plan(changed))
}

func (b *Backend) apply(ctx context.Context, actions []scheduler.Action) ([]store.Change, error) {
	d := newDraft(b.jobs)
	for _, a := range actions { // a job may grow by what a later action frees
		if run, ok := a.(scheduler.Run); ok {
			d.shrink(run)
		}
	}
	if err := b.Apply(ctx, actions, d); err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	return d.changed, nil
}

func (b *Backend) plan(changed []store.Change) *store.Plan {
	now := b.Now()
	if b.Jobs != nil {
		rows := b.Jobs(now)
		for i := range changed {
			j := slices.IndexFunc(rows, func(r *policy.Job) bool { return r.ID == changed[i].Job })
			if j >= 0 {
				changed[i].Status = rows[j].Status
			}
		}
	}
	b.round++
	return &store.Plan{Round: b.round, Time: now, Changes: changed}
}

func (b *Backend) commit(ctx context.Context, p *store.Plan) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := b.write(p)
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

func (b *Backend) write(p *store.Plan) error {
	b.Lock()
	defer b.Unlock()
	p.Changes = slices.DeleteFunc(p.Changes, func(c store.Change) bool { return b.jobs.ByID[c.Job] == nil || b.jobs.ByID[c.Job].Over })
	for i := range p.Changes {
		p.Changes[i].Failures = b.jobs.ByID[p.Changes[i].Job].Failures // it may have failed meanwhile
	}
	hook("plan: before commit")
	err := b.jobs.store.Commit(p)
	if b.unwritten = ""; err != nil {
		b.unwritten = "cannot store plans, so nothing changes: " + err.Error()
		return err
	}
	hook("plan: committed")
	for i := range p.Changes {
		e := b.jobs.ByID[p.Changes[i].Job]
		if e.Lost && e.Generation != p.Changes[i].Generation {
			b.RetractLoss(e)
		}
		e.commit(&p.Changes[i])
	}
	driver.Wake(b.jobs.Work)
	return nil
}
