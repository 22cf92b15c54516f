package execute

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
)

// An Order is the last order of nodes for a group.
type Order struct {
	refused bool
	missing int       // nodes ordered but not arrived
	since   time.Time // last change of missing
	scaled  int       // replicas, when last read
	read    time.Time // zero: never
	jobstate.Retry
}

type rentedNodes struct {
	Nodes      map[string][]observe.GroupNode // oldest first
	Orders     map[string]*Order
	Published  []cluster.Rental
	Committing bool
}

// ExpectPods marks nodes as held if pods of a job may still appear there.
func (ns *Nodes) ExpectPods() {
	to := make(map[string]bool)
	for _, e := range ns.Table.Order {
		if e.Coming() > 0 {
			to[e.Parsed.Node] = true
		}
	}
	for _, of := range ns.Rented.Nodes {
		for i := range of {
			of[i].Held = of[i].Held || to[of[i].Name()]
		}
	}
}

// Cloned copies a map from groups to their nodes.
func Cloned(of map[string][]observe.GroupNode) map[string][]observe.GroupNode {
	all := make(map[string][]observe.GroupNode, len(of))
	for g, nodes := range of {
		all[g] = slices.Clone(nodes)
	}
	return all
}

// Groups returns the groups of nodes that can be rented.
func (ns *Nodes) Groups() []v1alpha1.NodeGroup { return ns.Options.Queue.Spec.NodeGroups }

// Group returns the rentable group called name, or nil.
func (ns *Nodes) Group(name cluster.Group) *v1alpha1.NodeGroup {
	i := slices.IndexFunc(ns.Groups(), func(g v1alpha1.NodeGroup) bool { return g.Name == string(name) })
	if i < 0 {
		return nil
	}
	return &ns.Groups()[i]
}

// OrderOf returns the last order of a group.
func (ns *Nodes) OrderOf(g *v1alpha1.NodeGroup) *Order {
	if ns.Rented.Orders == nil {
		ns.Rented.Orders = make(map[string]*Order)
	}
	o := ns.Rented.Orders[g.Name]
	if o == nil {
		o = &Order{since: time.Now()}
		ns.Rented.Orders[g.Name] = o
	}
	return o
}

// A GroupStatus divides the nodes of a rented NodeGroup by what the plan does with them.
type GroupStatus struct {
	Group  *v1alpha1.NodeGroup
	Wanted int                  // number of nodes of the plan
	Stays  []*observe.GroupNode // present, even if broken
	Coming []*observe.GroupNode // not yet usable
	Leaves []*observe.GroupNode // no longer in the plan, not yet being deleted
	Going  []*observe.GroupNode // being deleted
}

// Alive counts the nodes that are not being deleted.
func (s *GroupStatus) Alive() int { return len(s.Stays) + len(s.Coming) + len(s.Leaves) }

// Status returns the state of group g under plan p. If g has more nodes than p wants, some leave: first those that p
// names, then the youngest without jobs, but none in planned.
func (ns *Nodes) Status(g *v1alpha1.NodeGroup, p *v1alpha1.PlannedGroup, planned map[string]bool, now time.Time) *GroupStatus {
	s := &GroupStatus{Group: g}
	var alive []*observe.GroupNode
	for i := range ns.Rented.Nodes[g.Name] {
		l := &ns.Rented.Nodes[g.Name][i]
		if l.Object.DeletionTimestamp != nil {
			s.Going = append(s.Going, l)
			continue
		}
		alive = append(alive, l)
	}
	s.Wanted = min(len(alive), int(g.Most))
	if p != nil {
		s.Wanted = int(p.Nodes)
	}
	first, last := candidates(alive, p, planned)
	all := slices.Concat(first, last)
	s.Leaves = all[:min(len(all), max(0, len(alive)-s.Wanted))]
	for _, l := range alive {
		switch {
		case slices.Contains(s.Leaves, l):
		case !l.Usable && !l.Held && now.Sub(l.Object.CreationTimestamp.Time) < startWithin(g):
			s.Coming = append(s.Coming, l)
		default:
			s.Stays = append(s.Stays, l)
		}
	}
	return s
}

func candidates(alive []*observe.GroupNode, p *v1alpha1.PlannedGroup, planned map[string]bool) (named, empty []*observe.GroupNode) {
	for _, l := range slices.Backward(alive) {
		switch {
		case planned[l.Name()]:
		case p != nil && slices.ContainsFunc(p.Leaving, l.Is):
			named = append(named, l)
		case !l.Held:
			empty = append(empty, l)
		}
	}
	return named, empty
}

func startWithin(g *v1alpha1.NodeGroup) time.Duration {
	if g.StartWithin == nil {
		return 15 * time.Minute
	}
	return g.StartWithin.Duration
}

func (ns *Nodes) rental(s *GroupStatus) cluster.Rental {
	o := ns.OrderOf(s.Group)
	r := cluster.Rental{
		Offer: inventory.Offer(s.Group), Ready: len(s.Stays), Starting: len(s.Coming), Leaving: len(s.Leaves) + len(s.Going), Refused: o.refused,
	}
	if o.Late(s.Group, time.Now()) {
		r.Refused = true
	} else {
		r.Starting += max(0, s.Wanted-s.Alive())
	}
	return r
}

// Late reports whether ordered nodes have not arrived within the time that group g allows.
func (o *Order) Late(g *v1alpha1.NodeGroup, now time.Time) bool {
	return o.missing > 0 && now.Sub(o.since) >= startWithin(g)
}

func (ns *Nodes) statuses() []*GroupStatus {
	if len(ns.Groups()) == 0 {
		return nil
	}
	planned := plannedNodes(ns.Table.Plan)
	var all []*GroupStatus
	for i := range ns.Groups() {
		g := &ns.Groups()[i]
		all = append(all, ns.Status(g, WantedOf(ns.Table.Plan.Spec.NodeGroups, g.Name), planned, time.Now()))
	}
	return all
}

func plannedNodes(p *v1alpha1.Plan) map[string]bool {
	all := make(map[string]bool)
	for i := range p.Spec.Allocations {
		for _, n := range p.Spec.Allocations[i].Nodes {
			all[n.Name] = true
		}
	}
	return all
}

// WantedOf returns the plan for the group called name, or nil.
func WantedOf(all []v1alpha1.PlannedGroup, name string) *v1alpha1.PlannedGroup {
	i := slices.IndexFunc(all, func(p v1alpha1.PlannedGroup) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Rentals updates the orders of rented nodes. It returns the nodes that may get new jobs, and the state of each group.
func (ns *Nodes) Rentals(nodes []cluster.Node) ([]cluster.Node, []cluster.Rental) {
	var rentals []cluster.Rental
	closed, planned := make(map[string]bool), plannedNodes(ns.Table.Plan)
	for _, s := range ns.statuses() {
		o, missing := ns.OrderOf(s.Group), max(0, s.Wanted-s.Alive())
		if missing != o.missing {
			o.missing, o.since = missing, time.Now()
		}
		s.close(closed, planned)
		rentals = append(rentals, ns.rental(s))
	}
	if len(closed) == 0 {
		return nodes, rentals
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n cluster.Node) bool { return closed[string(n.ID)] }), rentals
}

// close adds leaving nodes, and empty ones while the provider may choose one to delete.
func (s *GroupStatus) close(closed, planned map[string]bool) {
	for _, l := range s.Leaves {
		closed[l.Name()] = true
	}
	for _, l := range s.Stays {
		if !planned[l.Name()] && !l.Held && s.target() < s.Alive() {
			closed[l.Name()] = true
		}
	}
}

// Offered returns all rentable nodes, under names that no real node can have.
func Offered(groups []v1alpha1.NodeGroup) []cluster.Node {
	var all []cluster.Node
	for i := range groups {
		o := inventory.Offer(&groups[i])
		for k := range o.Most {
			n := o.Node
			n.ID = cluster.NodeID(fmt.Sprintf("%s/%d", o.Group, k))
			all = append(all, n)
		}
	}
	return all
}

// KeepRented updates the orders after a commit. allRefused states, by ordered group, whether the order was refused.
func (ns *Nodes) KeepRented(allRefused map[string]bool) {
	ns.Rented.Committing = false
	for name, refused := range allRefused {
		o := ns.OrderOf(ns.Group(cluster.Group(name)))
		o.refused, o.since = refused, time.Now()
	}
}
