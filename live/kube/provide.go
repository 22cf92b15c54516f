package kube

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
)

// A hire is what a draft makes of the groups of a plan.
type hire struct {
	groups  []v1alpha1.PlannedGroup // all; those of the plan, if nothing is changed
	refused map[string]bool         // of those that were asked for: whether not all is to be had
}

// rent orders nodes of a group. In a mode in which nothing is done it only looks whether that
// could be.
func (d *draft) rent(g *v1alpha1.NodeGroup, nodes int) error {
	if nodes < 0 || nodes > int(g.Most) {
		return fmt.Errorf("group %s: %d nodes wanted, want 0 to %d", g.Name, nodes, g.Most)
	}
	if d.w.o.acts() {
		d.order(g, nodes)
	}
	return nil
}

// order orders or cancels nodes until a group has so many. As long as there are more nodes
// than wanted, nothing more is ordered; and never more than there may be beside those that go.
func (d *draft) order(g *v1alpha1.NodeGroup, nodes int) {
	s := d.stand(g)
	want := max(nodes, len(s.stays))
	if s.alive() > s.wanted {
		want = min(want, s.wanted)
	}
	want = min(want, int(g.Most)-len(s.going))
	d.want(s, max(want, 0), nil)
	d.hire.refused[g.Name] = want < nodes
}

// dismiss gives a rented node back. It returns an error if it is not rented and there, or if a job is
// on it by what is planned: one whose pods have yet to stop is waited for.
func (d *draft) dismiss(id cluster.NodeID) error {
	for i := range d.w.groups() {
		s := d.stand(&d.w.groups()[i])
		k := slices.IndexFunc(s.stays, func(l *leased) bool { return l.name() == string(id) })
		if k < 0 {
			continue
		}
		if on := d.jobs()[string(id)]; on != "" {
			return fmt.Errorf("node %s: given back, want none that job %s is on", id, on)
		}
		if d.w.o.acts() {
			starting := max(0, s.wanted-s.alive()) + len(s.coming)
			d.want(s, min(s.wanted, len(s.stays)-1+starting), s.stays[k])
		}
		return nil
	}
	return fmt.Errorf("node %s: given back, want one that is rented and there, or on loan", id)
}

// expire cancels what was ordered and has not come in time.
func (d *draft) expire() {
	for i := range d.w.groups() {
		g := &d.w.groups()[i]
		if o := d.w.orderOf(g); o.late(g, time.Now()) {
			s := d.stand(g)
			d.want(s, min(s.wanted, s.alive()), nil)
			d.hire.refused[g.Name] = true
		}
	}
}

// want makes a group have so many nodes, without those that leave: those that the draft gives
// back so far, and one more, if it is not nil.
func (d *draft) want(s *stand, nodes int, more *leased) {
	next := v1alpha1.PlannedGroup{Name: s.group.Name, Nodes: int32(nodes)}
	old := wantedOf(d.hire.groups, s.group.Name)
	if old != nil {
		next.Leaving = old.Leaving
	}
	if more != nil {
		next.Leaving = append(slices.Clip(next.Leaving), more.ref())
	}
	then := d.w.stand(s.group, &next, d.hosts(), time.Now())
	next.Leaving = nil
	for _, l := range then.leaves {
		next.Leaving = append(next.Leaving, l.ref())
	}
	switch {
	case old == nil:
		d.hire.groups = append(slices.Clip(d.hire.groups), next)
	case old.Nodes == next.Nodes && slices.Equal(old.Leaving, next.Leaving):
		return
	default:
		d.hire.groups = slices.Clone(d.hire.groups)
		*wantedOf(d.hire.groups, next.Name) = next
	}
	d.changed = true
}

// ref names a node in a plan.
func (l *leased) ref() v1alpha1.LeavingNode {
	return v1alpha1.LeavingNode{Name: l.name(), UID: string(l.object.UID)}
}

// stand returns how it stands with a group by the draft.
func (d *draft) stand(g *v1alpha1.NodeGroup) *stand {
	return d.w.stand(g, wantedOf(d.hire.groups, g.Name), d.hosts(), time.Now())
}

// hosts returns the nodes that the draft has jobs on.
func (d *draft) hosts() map[string]bool {
	all := make(map[string]bool)
	for n := range d.jobs() {
		all[n] = true
	}
	return all
}

// jobs returns, by node, a job that the draft has on it, by name.
func (d *draft) jobs() map[string]string {
	all := make(map[string]string)
	for _, e := range d.w.order {
		g, changed := d.held[e.id()]
		if !changed {
			g = e.held
		}
		for _, share := range g.placement {
			if !e.ended {
				all[string(share.Node)] = e.spec.Name
			}
		}
	}
	return all
}

// keepFleet makes what a draft has of the groups what is ordered.
func (w *World) keepFleet(d *draft) {
	w.fleet.busy = false
	for name, refused := range d.hire.refused {
		o := w.orderOf(w.group(cluster.Group(name)))
		o.refused, o.since = refused, time.Now()
	}
}
