package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/phase"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// Do implements scheduler.Backend: it commits the plan as changed by the actions; the executor
// carries it out. While the API server does not answer, Do waits, and running jobs go on.
func (w *World) Do(ctx context.Context, actions []scheduler.Action) error {
	w.Lock()
	d, err := w.apply(ctx, actions)
	w.Unlock()
	if err != nil {
		return fmt.Errorf("kube: %w", err)
	}
	return w.commit(ctx, d)
}

// apply returns the draft of the plan with the actions. It changes nothing else, except what needs
// no commit.
func (w *World) apply(ctx context.Context, actions []scheduler.Action) (*draft, error) {
	d := w.draft()
	if err := w.Apply(ctx, actions, d); err != nil {
		return nil, err
	}
	w.nodes.Rented.Committing = true
	return d, nil
}

// Nodes implements driver.Draft.
func (d *draft) Nodes(a scheduler.Action) error {
	switch a := a.(type) {
	case scheduler.Provision:
		return d.provision(a)
	case scheduler.Return:
		return d.giveBack(a)
	}
	return fmt.Errorf("%T: unknown action", a)
}

// provision rents nodes of a group, or takes them on loan.
func (d *draft) provision(a scheduler.Provision) error {
	if g := d.w.nodes.Group(a.Group); g != nil {
		return d.rent(g, a.Nodes)
	}
	if p := d.w.nodes.PoolOf(a.Group); p != nil {
		return d.borrow(p, a.Nodes)
	}
	return fmt.Errorf("group %s: queue %s can neither rent nor borrow nodes of it", a.Group, d.w.o.Queue.Name)
}

// giveBack gives nodes back that are rented, or on loan.
func (d *draft) giveBack(a scheduler.Return) error {
	var errs []error
	for _, id := range a.Nodes {
		if d.w.nodes.Lent(id) {
			errs = append(errs, d.repay(id))
		} else {
			errs = append(errs, d.dismiss(id))
		}
	}
	return errors.Join(errs...)
}

// A draft is a plan that is not committed yet: the grants of the jobs for which it differs from the
// last plan, and the nodes on loan.
type draft struct {
	w       *World
	held    map[job.ID]jobstate.Grant
	request nodeRequest
	loans   []v1alpha1.NodeLoan // by name
	changed bool
}

func (w *World) draft() *draft {
	d := &draft{w: w, held: make(map[job.ID]jobstate.Grant, len(w.table.Order)), changed: len(w.nodes.Loans.Back) > 0}
	for _, l := range w.table.Plan.Spec.Loans {
		if !w.nodes.Loans.Back[cluster.NodeID(l.Name)] {
			d.loans = append(d.loans, l)
		}
	}
	for _, e := range w.table.Order {
		d.changed = d.changed || e.Phase == phase.Vacated
	}
	d.request = nodeRequest{groups: w.table.Plan.Spec.NodeGroups, refused: make(map[string]bool)}
	d.expire()
	return d
}

// planned returns the grant of a job in the draft so far, and the job.
func (d *draft) planned(id job.ID) (jobstate.Grant, *jobstate.Job, error) {
	e, err := d.w.entry(id)
	if err != nil {
		return jobstate.Grant{}, nil, err
	}
	if g, changed := d.held[id]; changed {
		return g, e, nil
	}
	return e.Held, e, nil
}

// Preempt implements driver.Draft.
func (d *draft) Preempt(a scheduler.Preempt) error {
	g, _, err := d.planned(a.Job)
	if err == nil {
		d.hold(a.Job, jobstate.Grant{Generation: g.Generation})
	}
	return err
}

func (d *draft) hold(id job.ID, g jobstate.Grant) { d.held[id], d.changed = g, true }

// Run implements driver.Draft. That is a new generation unless the job's pods can stay.
func (d *draft) Run(a *scheduler.Run) error {
	g, e, err := d.planned(a.Job)
	if err != nil {
		return err
	}
	if e.Ended() || e.Phase == phase.Lost {
		return nil // the scheduler hears of it yet
	}
	next := jobstate.Grant{Generation: g.Generation, Allocation: a.Allocation, Placement: a.Placement, Batch: a.Batch}
	stays := g.GPUs > 0 && e.Wants() && (a.InPlace(g.Allocation, g.Placement) || e.Grows(&next))
	if !stays {
		next.Generation++
	}
	if err := errors.Join(e.WholeWorkers(&next), d.w.extent.has(&next)); err != nil { // it waits, and the next round may do better
		d.w.refuse(e, err)
		return nil
	}
	d.hold(a.Job, next)
	return nil
}

// has returns an error if a node of a placement is not there any more: it was when the round
// began.
func (w *extent) has(g *jobstate.Grant) error {
	for _, s := range g.Placement {
		if _, there := w.cluster.Index(s.Node); !there {
			return fmt.Errorf("node %s went before it could be started there", s.Node)
		}
	}
	return nil
}

// keep makes the draft's grants those of the jobs, after it was committed. A job that has ended in
// the meantime holds nothing. A job that was lost in the meantime no longer counts as lost if the
// draft has a new generation of it.
func (w *World) keep(d *draft) {
	for _, e := range w.table.Order {
		g, changed := d.held[e.ID()]
		e.Move(phase.Commit)
		if !changed || e.Ended() {
			continue
		}
		if g.Generation != e.Held.Generation {
			e.Since = time.Now()
			e.Move(phase.Grant)
			w.retract(e)
		}
		e.Held = g
		w.describe(e) // it may have failed meanwhile, and have been held back
	}
	w.nodes.KeepRented(d.request.refused)
}
