package kube

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

func (d *draft) Nodes(a scheduler.Action) error {
	switch a := a.(type) {
	case scheduler.Provision:
		return d.provision(a)
	case scheduler.Return:
		return d.giveBack(a)
	}
	return fmt.Errorf("%T: unknown action", a)
}

func (d *draft) provision(a scheduler.Provision) error {
	if g := d.w.nodes.Group(a.Group); g != nil {
		return d.rent(g, a.Nodes)
	}
	if p := d.w.nodes.PoolOf(a.Group); p != nil {
		return d.borrow(p, a.Nodes)
	}
	return fmt.Errorf("group %s: queue %s can neither rent nor borrow nodes of it", a.Group, d.w.o.Queue.Name)
}

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

func (d *draft) rent(g *v1alpha1.NodeGroup, nodes int) error {
	if nodes < 0 || nodes > int(g.Most) {
		return fmt.Errorf("group %s: %d nodes wanted, want 0 to %d", g.Name, nodes, g.Most)
	}
	if d.w.o.Acts() {
		d.order(g, nodes)
	}
	return nil
}

func (d *draft) order(g *v1alpha1.NodeGroup, nodes int) {
	s := d.groupStatus(g)
	want := max(nodes, len(s.Stays))
	if s.Alive() > s.Wanted {
		want = min(want, s.Wanted)
	}
	want = min(want, int(g.Most)-len(s.Going))
	d.want(s, max(want, 0), nil)
	d.request.refused[g.Name] = want < nodes
}

func (d *draft) dismiss(id cluster.NodeID) error {
	for i := range d.w.nodes.Groups() {
		s := d.groupStatus(&d.w.nodes.Groups()[i])
		k := slices.IndexFunc(s.Stays, func(l *observe.GroupNode) bool { return l.Name() == string(id) })
		if k < 0 {
			continue
		}
		if on := d.jobs()[string(id)]; on != "" {
			return fmt.Errorf("node %s: given back, want none that job %s is on", id, on)
		}
		if d.w.o.Acts() {
			starting := max(0, s.Wanted-s.Alive()) + len(s.Coming)
			d.want(s, min(s.Wanted, len(s.Stays)-1+starting), s.Stays[k])
		}
		return nil
	}
	return fmt.Errorf("node %s: given back, want one that is rented and there, or on loan", id)
}

func (d *draft) expire() {
	for i := range d.w.nodes.Groups() {
		g := &d.w.nodes.Groups()[i]
		if o := d.w.nodes.OrderOf(g); o.Late(g, time.Now()) {
			s := d.groupStatus(g)
			d.want(s, min(s.Wanted, s.Alive()), nil)
			d.request.refused[g.Name] = true
		}
	}
}

func (d *draft) want(s *execute.GroupStatus, nodes int, more *observe.GroupNode) {
	next := v1alpha1.PlannedGroup{Name: s.Group.Name, Nodes: int32(nodes)}
	old := execute.WantedOf(d.request.groups, s.Group.Name)
	if old != nil {
		next.Leaving = old.Leaving
	}
	if more != nil {
		next.Leaving = append(slices.Clip(next.Leaving), more.Ref())
	}
	then := d.w.nodes.Status(s.Group, &next, d.hosts(), time.Now())
	next.Leaving = nil
	for _, l := range then.Leaves {
		next.Leaving = append(next.Leaving, l.Ref())
	}
	switch {
	case old == nil:
		d.request.groups = append(slices.Clip(d.request.groups), next)
	case old.Nodes == next.Nodes && slices.Equal(old.Leaving, next.Leaving):
		return
	default:
		d.request.groups = slices.Clone(d.request.groups)
		*execute.WantedOf(d.request.groups, next.Name) = next
	}
	d.changed = true
}

func (d *draft) groupStatus(g *v1alpha1.NodeGroup) *execute.GroupStatus {
	return d.w.nodes.Status(g, execute.WantedOf(d.request.groups, g.Name), d.hosts(), time.Now())
}

func (d *draft) hosts() map[string]bool {
	all := make(map[string]bool)
	for n := range d.jobs() {
		all[n] = true
	}
	return all
}

func (d *draft) jobs() map[string]string {
	all := make(map[string]string)
	for _, e := range d.w.table.Order {
		g, changed := d.held[e.ID]
		if !changed {
			g = e.Held
		}
		for _, share := range g.Placement {
			if !e.Ended() {
				all[string(share.Node)] = e.Spec.Name
			}
		}
	}
	return all
}

func (d *draft) borrow(p *inventory.Pool, nodes int) error {
	if nodes < 0 || nodes > p.Nodes {
		return fmt.Errorf("group %s: %d nodes wanted on loan, want 0 to %d", p.Group, nodes, p.Nodes)
	}
	for _, n := range p.Next(nodes - d.lent(p.Group)) {
		d.loans, d.changed = append(d.loans, v1alpha1.NodeLoan{Name: string(n.ID), Group: string(p.Group)}), true
	}
	slices.SortFunc(d.loans, execute.ByName)
	return nil
}

func (d *draft) lent(g cluster.Group) int {
	n := 0
	for _, l := range d.loans {
		if l.Group == string(g) {
			n++
		}
	}
	return n
}

func (d *draft) repay(id cluster.NodeID) error {
	if on := d.jobs()[string(id)]; on != "" {
		return fmt.Errorf("node %s: given back, want none that job %s is on", id, on)
	}
	d.changed = true
	d.loans = slices.DeleteFunc(d.loans, func(l v1alpha1.NodeLoan) bool { return l.Name == string(id) })
	return nil
}
