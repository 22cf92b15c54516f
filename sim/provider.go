package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/scheduler"
)

// Provider says how nodes are rented.
type Provider struct {
	// Start is the time from an order until the node is there. Default 90 s: BOA §1
	// says one to two minutes.
	Start time.Duration
	// Release is the time from giving a node back until the provider has taken it and
	// it is paid no more. Default 2 min.
	Release time.Duration
	// Refuse is the probability that the order of a node is refused. Default 0.
	Refuse float64
	// Notice is the time from the notice that a spot node is taken back until it is
	// gone. Default 2 min.
	Notice time.Duration
}

// DefaultProvider returns the defaults stated beside the fields.
func DefaultProvider() Provider {
	return Provider{Start: 90 * time.Second, Release: 2 * time.Minute, Notice: 2 * time.Minute}
}

// validate returns an error that joins all complaints about p.
func (p *Provider) validate() error {
	var errs []error
	if p.Start < 0 || p.Release < 0 || p.Notice < 0 {
		errs = append(errs, fmt.Errorf("provider: start %v, release %v, notice %v; want at least 0", p.Start, p.Release, p.Notice))
	}
	if !(p.Refuse >= 0 && p.Refuse <= 1) {
		errs = append(errs, fmt.Errorf("provider: refuses with probability %v, want 0 to 1", p.Refuse))
	}
	return errors.Join(errs...)
}

// leaseState is the state of a node that can be rented.
type leaseState uint8

const (
	free     leaseState = iota
	starting            // ordered, not there
	ready               // there, unless it is broken or in maintenance
	leaving             // given or taken back, still paid
)

// A lease is a node that can be rented. Invariant: the node counts once in World.away
// unless it is ready, so that failures and maintenance, which count too, need not know.
type lease struct {
	node  *cluster.Node
	state leaseState
	turn  int        // of state; what was to happen in another turn is void
	spot  *rand.Rand // nil: never taken back
	// ordered is the number of the last order of the node.
	ordered int
}

// A stateChange is a state that a lease has entered.
type stateChange struct {
	*lease
	turn int
}

// kept reports whether the lease is still in it.
func (p stateChange) kept() bool { return p.lease.turn == p.turn }

// enter begins a state.
func (l *lease) enter(s leaseState) stateChange {
	l.state = s
	l.turn++
	return stateChange{l, l.turn}
}

// A groupController rents out the nodes of one group.
type groupController struct {
	offer   cluster.Offer
	leases  []*lease // in the cluster's order
	refused bool     // the last order was not met in full
	luck    *rand.Rand
}

// A provider lets the rented nodes of a world. It is a scheduler.Expander.
type provider struct {
	w           *World
	o           *Provider
	controllers []*groupController // by group, in the order of cluster.Offers
	leases      map[cluster.NodeID]*lease
	orders      int // of nodes, so far
}

var _ scheduler.Expander = (*provider)(nil)

// newProvider returns the provider of a world in which nothing is rented yet.
func newProvider(w *World) *provider {
	p := &provider{w: w, o: &w.o.Provider, leases: make(map[cluster.NodeID]*lease)}
	for _, offer := range w.full.Offers() {
		p.controllers = append(p.controllers, &groupController{offer: offer, luck: rng.Stream(w.o.Seed, "provider/"+string(offer.Group))})
	}
	for i := range w.full.Nodes() {
		if n := &w.full.Nodes()[i]; n.Tenure == cluster.Rented {
			p.add(n)
		}
	}
	return p
}

// add takes a node into the books.
func (p *provider) add(n *cluster.Node) {
	l := &lease{node: n}
	if n.Interruptions > 0 {
		l.spot = rng.Stream(p.w.o.Seed, "spot/"+string(n.ID))
	}
	d := p.groupController(n.Group)
	d.leases = append(d.leases, l)
	p.leases[n.ID] = l
	p.w.away[n.ID]++
}

// groupController returns the controller of a group; nil if there is none.
func (p *provider) groupController(g cluster.Group) *groupController {
	i := slices.IndexFunc(p.controllers, func(d *groupController) bool { return d.offer.Group == g })
	if i < 0 {
		return nil
	}
	return p.controllers[i]
}

// in returns the nodes of a group in one state.
func (d *groupController) in(s leaseState) []*lease {
	var found []*lease
	for _, l := range d.leases {
		if l.state == s {
			found = append(found, l)
		}
	}
	return found
}

// rentals returns the state of every offer.
func (p *provider) rentals() []cluster.Rental {
	var all []cluster.Rental
	for _, d := range p.controllers {
		r := cluster.Rental{Offer: d.offer, Refused: d.refused}
		for _, l := range d.leases {
			switch l.state {
			case ready:
				r.Ready++
			case starting:
				r.Starting++
			case leaving:
				r.Leaving++
			case free:
			}
		}
		all = append(all, r)
	}
	return all
}

// there reports whether a node was not rented, or is and has come.
func (p *provider) there(id cluster.NodeID) bool {
	l := p.leases[id]
	return l == nil || l.state == ready
}

// Provision implements scheduler.Expander. Nodes that are ordered are the first free
// ones in the cluster's order; those that are cancelled go back like others.
func (p *provider) Provision(g cluster.Group, nodes int) error {
	d := p.groupController(g)
	if d == nil {
		return fmt.Errorf("sim: group %s: cannot be rented", g)
	}
	if nodes < 0 || nodes > d.offer.Most {
		return fmt.Errorf("sim: group %s: %d nodes wanted, want 0 to %d", g, nodes, d.offer.Most)
	}
	coming := d.in(starting)
	missing := nodes - len(d.in(ready)) - len(coming)
	p.cancel(coming, -missing)
	d.refused = missing > 0 && p.order(d, missing) < missing
	p.w.changed()
	return nil
}

// cancel gives back so many nodes that are on their way, those ordered last first.
func (p *provider) cancel(coming []*lease, most int) {
	for range min(most, len(coming)) {
		last := slices.MaxFunc(coming, func(a, b *lease) int { return cmp.Compare(a.ordered, b.ordered) })
		coming = slices.DeleteFunc(coming, func(l *lease) bool { return l == last })
		p.leave(last, p.o.Release)
	}
}

// order rents up to so many more nodes, and returns how many. Nodes that are broken, or
// in maintenance, are not to be had.
func (p *provider) order(d *groupController, nodes int) int {
	idle := slices.DeleteFunc(d.in(free), func(l *lease) bool { return p.w.away[l.node.ID] > 1 })
	var got []stateChange
	for range nodes {
		if len(got) == len(idle) || p.o.Refuse > 0 && d.luck.Float64() < p.o.Refuse {
			continue
		}
		l := idle[len(got)]
		p.orders++
		l.ordered = p.orders
		got = append(got, l.enter(starting))
	}
	if len(got) > 0 {
		p.w.agenda.push(entry{at: p.w.now.Add(p.o.Start), what: func(*World) { p.come(got) }})
	}
	return len(got)
}

// come makes the nodes of an order ready that were not cancelled.
func (p *provider) come(got []stateChange) {
	changed := false
	for _, g := range got {
		if g.kept() {
			p.w.away[g.node.ID]--
			p.watch(g.enter(ready))
			changed = true
		}
	}
	if changed {
		p.w.changed()
	}
}

// watch lets a spot node that has come be taken back some time.
func (p *provider) watch(here stateChange) {
	if here.spot == nil {
		return
	}
	hours := here.spot.ExpFloat64() / here.node.Interruptions
	p.w.agenda.push(entry{at: p.w.now.Add(seconds(3600 * hours)), what: func(*World) {
		if here.kept() {
			p.reclaim(here.lease)
		}
	}})
}

// reclaim takes a spot node back. Its jobs save what they have done, because that is
// what the notice is for, and do not run again on a node that is about to go.
func (p *provider) reclaim(l *lease) {
	for _, g := range p.w.on(func(id cluster.NodeID) bool { return id == l.node.ID }) {
		p.w.lose(g, fmt.Sprintf("the provider takes %s back", l.node.ID), (*agent).checkpoint)
	}
	p.leave(l, p.o.Notice)
	p.w.changed()
}

// Return implements scheduler.Expander. The nodes up to one that is an error go back.
func (p *provider) Return(nodes []cluster.NodeID) error {
	for _, id := range nodes {
		l := p.leases[id]
		if l == nil || l.state != ready {
			return fmt.Errorf("sim: node %s: given back, want one that is rented and there", id)
		}
		if on := p.w.on(func(other cluster.NodeID) bool { return other == id }); len(on) > 0 {
			return fmt.Errorf("sim: node %s: given back, want none that job %s is on", id, on[0].spec.ID)
		}
		p.leave(l, p.o.Release)
	}
	p.w.changed()
	return nil
}

// leave lets a node go that is there or on its way: it is gone at once, and free, and
// paid no more, after some time.
func (p *provider) leave(l *lease, after time.Duration) {
	if l.state == ready {
		p.w.away[l.node.ID]++
	}
	gone := l.enter(leaving)
	p.w.agenda.push(entry{at: p.w.now.Add(after), what: func(w *World) {
		if gone.kept() {
			l.enter(free)
			w.changed()
		}
	}})
}
