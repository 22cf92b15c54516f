package kube

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/pods"
)

// A leased node is one of a group, as last seen.
type leased struct {
	object *corev1.Node // not to be changed
	held   bool         // a pod of the scheduler's is on it, or pinned to it, and has not ended
	bound  bool         // one is on it, as all can see
	usable bool         // jobs can be placed on it
}

func (l *leased) name() string { return l.object.Name }

// An order is how it stands with what was last ordered of a group.
type order struct {
	refused bool      // not all of it is to be had
	missing int       // nodes that the plan wants and that are not there
	since   time.Time // when that was last another number
	scaled  int       // what the scale said when it was last read
	read    time.Time // when; zero: it was not
	retry
}

// A fleet is the nodes for rent of a world. Its maps are by name of the group.
type fleet struct {
	nodes   map[string][]leased // oldest first
	orders  map[string]*order
	rentals []cluster.Rental // as the scheduler was last told
	busy    bool             // a plan is being committed
}

// expectPods holds those nodes for used that pods of a job may yet come to.
func (w *World) expectPods() {
	to := make(map[string]bool)
	for _, e := range w.order {
		if e.coming() > 0 {
			to[e.job.Node] = true
		}
	}
	for _, of := range w.fleet.nodes {
		for i := range of {
			of[i].held = of[i].held || to[of[i].name()]
		}
	}
}

// groups returns what can be rented.
func (w *World) groups() []v1alpha1.NodeGroup { return w.o.Queue.Spec.NodeGroups }

// group returns a group by name; nil: there is none.
func (w *World) group(name cluster.Group) *v1alpha1.NodeGroup {
	i := slices.IndexFunc(w.groups(), func(g v1alpha1.NodeGroup) bool { return g.Name == string(name) })
	if i < 0 {
		return nil
	}
	return &w.groups()[i]
}

// orderOf returns how it stands with what was last ordered of a group.
func (w *World) orderOf(g *v1alpha1.NodeGroup) *order {
	if w.fleet.orders == nil {
		w.fleet.orders = make(map[string]*order)
	}
	o := w.fleet.orders[g.Name]
	if o == nil {
		o = &order{since: time.Now()}
		w.fleet.orders[g.Name] = o
	}
	return o
}

// muster returns the nodes of each group among all nodes.
func (w *World) muster(nodes []*corev1.Node, on []*corev1.Pod, usable []cluster.Node) map[string][]leased {
	if len(w.groups()) == 0 {
		return nil
	}
	held, bound, can := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, p := range on {
		if p.Labels[v1alpha1.JobUID] != "" && !terminal(p) {
			held[pods.Node(p)], bound[p.Spec.NodeName] = true, true
		}
	}
	for i := range usable {
		can[string(usable[i].ID)] = true
	}
	all := make(map[string][]leased)
	for _, n := range nodes {
		if g := inventory.Group(w.groups(), n); g != nil {
			all[g.Name] = append(all[g.Name], leased{n, held[n.Name], bound[n.Name], can[n.Name]})
		}
	}
	for _, of := range all {
		slices.SortFunc(of, func(a, b leased) int {
			return cmp.Or(a.object.CreationTimestamp.Compare(b.object.CreationTimestamp.Time), cmp.Compare(a.name(), b.name()))
		})
	}
	return all
}

// A stand is how it stands with a group, if the plan wants so many nodes of it. Its nodes are
// in one list each.
type stand struct {
	group  *v1alpha1.NodeGroup
	wanted int       // without those that are leaving
	stays  []*leased // that are there, also while they are broken
	coming []*leased // of which pods with GPUs cannot use one yet
	leaves []*leased // that are to go, and that the provider does not yet take away
	going  []*leased // that it does
}

// alive returns how many nodes there are that the provider does not take away.
func (s *stand) alive() int { return len(s.stays) + len(s.coming) + len(s.leaves) }

// stand sorts the nodes of a group. planned are the nodes that the plan has jobs on: none of
// them leaves. Where there are more nodes than wanted, those leave that p names, and then the
// youngest that no job is on: a provider that made too many takes them back.
func (w *World) stand(g *v1alpha1.NodeGroup, p *v1alpha1.PlannedGroup, planned map[string]bool, now time.Time) *stand {
	s := &stand{group: g}
	var alive []*leased
	for i := range w.fleet.nodes[g.Name] {
		l := &w.fleet.nodes[g.Name][i]
		if l.object.DeletionTimestamp != nil {
			s.going = append(s.going, l)
			continue
		}
		alive = append(alive, l)
	}
	s.wanted = min(len(alive), int(g.Most))
	if p != nil {
		s.wanted = int(p.Nodes)
	}
	first, last := candidates(alive, p, planned)
	all := slices.Concat(first, last)
	s.leaves = all[:min(len(all), max(0, len(alive)-s.wanted))]
	for _, l := range alive {
		switch {
		case slices.Contains(s.leaves, l):
		case !l.usable && !l.held && now.Sub(l.object.CreationTimestamp.Time) < startWithin(g):
			s.coming = append(s.coming, l)
		default:
			s.stays = append(s.stays, l)
		}
	}
	return s
}

// candidates returns those nodes that no job is planned on: first those that a plan gives back,
// then those without pods, the youngest before others.
func candidates(alive []*leased, p *v1alpha1.PlannedGroup, planned map[string]bool) (named, empty []*leased) {
	for _, l := range slices.Backward(alive) {
		switch {
		case planned[l.name()]:
		case p != nil && slices.ContainsFunc(p.Leaving, l.is):
			named = append(named, l)
		case !l.held:
			empty = append(empty, l)
		}
	}
	return named, empty
}

// is reports whether l is a node that a plan gives back.
func (l *leased) is(n v1alpha1.LeavingNode) bool { return n.UID == string(l.object.UID) }

// startWithin returns how long an order of a group may take.
func startWithin(g *v1alpha1.NodeGroup) time.Duration {
	if g.StartWithin == nil {
		return 15 * time.Minute
	}
	return g.StartWithin.Duration
}

// rental says how it stands with a group.
func (w *World) rental(s *stand) cluster.Rental {
	o := w.orderOf(s.group)
	r := cluster.Rental{
		Offer: inventory.Offer(s.group), Ready: len(s.stays), Starting: len(s.coming), Leaving: len(s.leaves) + len(s.going), Refused: o.refused,
	}
	if o.late(s.group, time.Now()) {
		r.Refused = true
	} else {
		r.Starting += max(0, s.wanted-s.alive())
	}
	return r
}

// late reports whether what was ordered has not come in time.
func (o *order) late(g *v1alpha1.NodeGroup, now time.Time) bool {
	return o.missing > 0 && now.Sub(o.since) >= startWithin(g)
}

// stands returns how it stands with each group by the committed plan.
func (w *World) stands() []*stand {
	if len(w.groups()) == 0 {
		return nil
	}
	planned := plannedNodes(w.plan)
	var all []*stand
	for i := range w.groups() {
		g := &w.groups()[i]
		all = append(all, w.stand(g, wantedOf(w.plan.Spec.NodeGroups, g.Name), planned, time.Now()))
	}
	return all
}

// plannedNodes returns the nodes that a plan has jobs on.
func plannedNodes(p *v1alpha1.Plan) map[string]bool {
	all := make(map[string]bool)
	for i := range p.Spec.Allocations {
		for _, n := range p.Spec.Allocations[i].Nodes {
			all[n.Name] = true
		}
	}
	return all
}

// wantedOf returns what a plan wants of a group; nil: nothing is decided yet.
func wantedOf(all []v1alpha1.PlannedGroup, name string) *v1alpha1.PlannedGroup {
	i := slices.IndexFunc(all, func(p v1alpha1.PlannedGroup) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// lease takes in how it stands with rented nodes: it returns, of the nodes that jobs could be
// placed on, those that are not closed, and the rentals. Orders of which something has come have
// their time again. Without groups these are all nodes, and none.
func (w *World) lease(nodes []cluster.Node) ([]cluster.Node, []cluster.Rental) {
	var rentals []cluster.Rental
	closed, planned := make(map[string]bool), plannedNodes(w.plan)
	for _, s := range w.stands() {
		o, missing := w.orderOf(s.group), max(0, s.wanted-s.alive())
		if missing != o.missing {
			o.missing, o.since = missing, time.Now()
		}
		s.close(closed, planned)
		rentals = append(rentals, w.rental(s))
	}
	if len(closed) == 0 {
		return nodes, rentals
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n cluster.Node) bool { return closed[string(n.ID)] }), rentals
}

// close adds the nodes that no job is to be planned on: those that leave, and, while the
// provider may choose one to take away, all others that look empty to it.
func (s *stand) close(closed, planned map[string]bool) {
	for _, l := range s.leaves {
		closed[l.name()] = true
	}
	for _, l := range s.stays {
		if !planned[l.name()] && !l.held && s.target() < s.alive() {
			closed[l.name()] = true
		}
	}
}

// offered returns all nodes that can be rented, under names that no node has.
func offered(groups []v1alpha1.NodeGroup) []cluster.Node {
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
