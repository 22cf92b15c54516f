package kube

import (
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

type draft struct {
	w       *Backend
	held    map[job.ID]jobstate.Grant
	request nodeRequest
	loans   []v1alpha1.NodeLoan // by name
	changed bool
}

func (w *Backend) draft() *draft {
	d := &draft{w: w, held: make(map[job.ID]jobstate.Grant, len(w.table.Order)), changed: len(w.nodes.Loans.Back) > 0}
	for _, l := range w.table.Plan.Spec.Loans {
		if !w.nodes.Loans.Back[cluster.NodeID(l.Name)] {
			d.loans = append(d.loans, l)
		}
	}
	for _, e := range w.table.Order {
		d.changed = d.changed || e.Phase == jobstate.Vacated
	}
	d.request = nodeRequest{groups: w.table.Plan.Spec.NodeGroups, refused: make(map[string]bool)}
	return d
}

func (d *draft) planned(id job.ID) (jobstate.Grant, *jobstate.Job, error) {
	e, err := d.w.table.Get(id)
	if err != nil {
		return jobstate.Grant{}, nil, err
	}
	if g, changed := d.held[id]; changed {
		return g, e, nil
	}
	return e.Held, e, nil
}

func (d *draft) Preempt(a scheduler.Preempt) error {
	g, _, err := d.planned(a.Job)
	if err == nil {
		d.hold(a.Job, jobstate.Grant{Generation: g.Generation})
	}
	return err
}

func (d *draft) hold(id job.ID, g jobstate.Grant) { d.held[id], d.changed = g, true }

// Run plans a new start of the job, unless its running pods already match the new plan.
func (d *draft) Run(a *scheduler.Run) error {
	g, e, err := d.planned(a.Job)
	if err != nil {
		return err
	}
	if e.Ended() || e.Phase == jobstate.Lost {
		return nil // the scheduler still has an event about it
	}
	next := jobstate.Grant{Generation: g.Generation, Allocation: a.Allocation, Placement: a.Placement, Batch: a.Batch}
	stays := g.GPUs > 0 && e.Wants() && (a.InPlace(g.Allocation, g.Placement) || e.Grows(&next))
	if !stays {
		next.Generation++
	}
	if err := errors.Join(e.WholeWorkers(&next), d.w.extent.check(&next), d.w.fits(e, &next)); err != nil { // the next round may do better
		d.w.refuse(e, err)
		return nil
	}
	d.hold(a.Job, next)
	return nil
}

func (w *extent) check(g *jobstate.Grant) error {
	for _, s := range g.Placement {
		if _, there := w.cluster.Index(s.Node); !there {
			return fmt.Errorf("node %s disappeared before the job could start on it", s.Node)
		}
	}
	return nil
}

func (w *Backend) fits(e *jobstate.Job, g *jobstate.Grant) error {
	if w.latest.observation == nil || len(e.Parsed.Roles) == 0 {
		return nil
	}
	return w.observer.Fits(w.latest.observation, e.Parsed, g.Placement)
}

type nodeRequest struct {
	groups  []v1alpha1.PlannedGroup
	refused map[string]bool // by group: fewer nodes than requested can come
}
