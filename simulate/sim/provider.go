package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

// Provider configures how a cloud provider rents nodes.
type Provider struct {
	// Start is the time from an order until the node is ready. Default 90 s (BOA §1: one to two minutes).
	Start time.Duration
	// Release is the time from the return of a node until it is no longer paid for. Default 2 min.
	Release time.Duration
	// Refuse is the probability that the order of a node is refused. Default 0.
	Refuse float64
	// Notice is the time from the reclaim of a spot node until the node is gone. Jobs leave at its start, and all
	// of it is paid for. Default 2 min.
	Notice time.Duration
}

// DefaultProvider returns the defaults that the fields state.
func DefaultProvider() Provider {
	return Provider{Start: 90 * time.Second, Release: 2 * time.Minute, Notice: 2 * time.Minute}
}

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

type leaseState uint8

const (
	free     leaseState = iota // not rented
	starting                   // ordered, not there yet
	ready                      // available, unless broken or in maintenance
	leaving                    // returned or reclaimed, still paid for
)

type lease struct {
	node    *cluster.Node
	state   leaseState
	turn    int        // number of state changes
	spot    *rand.Rand // nil: never reclaimed
	ordered int
}

type stateChange struct {
	*lease
	turn int
}

func (p stateChange) current() bool { return p.lease.turn == p.turn }

func (l *lease) enter(s leaseState) stateChange {
	l.state = s
	l.turn++
	return stateChange{l, l.turn}
}

type groupController struct {
	offer   cluster.Offer
	leases  []*lease // in the cluster's order
	refused bool     // the last order was not fulfilled
	luck    *rand.Rand
}

type provider struct {
	w           *World
	o           *Provider
	controllers []*groupController // by group, in the order of cluster.Offers
	leases      map[cluster.NodeID]*lease
	orders      int
}

var _ scheduler.Expander = (*provider)(nil)

func newProvider(w *World) *provider {
	p := &provider{w: w, o: &w.o.Provider, leases: make(map[cluster.NodeID]*lease)}
	for _, offer := range w.in.full.Offers() {
		p.controllers = append(p.controllers, &groupController{offer: offer, luck: rng.Stream(w.o.Seed, "provider/"+string(offer.Group))})
	}
	for i := range w.in.full.Nodes() {
		if n := &w.in.full.Nodes()[i]; n.Tenure == cluster.Rented {
			p.add(n)
		}
	}
	return p
}

func (p *provider) add(n *cluster.Node) {
	l := &lease{node: n}
	if n.Interruptions > 0 {
		l.spot = rng.Stream(p.w.o.Seed, "spot/"+string(n.ID))
	}
	d := p.groupController(n.Group)
	d.leases = append(d.leases, l)
	p.leases[n.ID] = l
	p.w.nodes.away[n.ID]++
}

func (p *provider) groupController(g cluster.Group) *groupController {
	i := slices.IndexFunc(p.controllers, func(d *groupController) bool { return d.offer.Group == g })
	if i < 0 {
		return nil
	}
	return p.controllers[i]
}

func (d *groupController) in(s leaseState) []*lease {
	var found []*lease
	for _, l := range d.leases {
		if l.state == s {
			found = append(found, l)
		}
	}
	return found
}

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

func (p *provider) available(id cluster.NodeID) bool {
	l := p.leases[id]
	return l == nil || l.state == ready
}

// Provision implements scheduler.Expander. It orders the first free nodes of the cluster, or cancels orders.
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

func (p *provider) cancel(coming []*lease, most int) {
	for range min(most, len(coming)) {
		last := slices.MaxFunc(coming, func(a, b *lease) int { return cmp.Compare(a.ordered, b.ordered) })
		coming = slices.DeleteFunc(coming, func(l *lease) bool { return l == last })
		p.leave(last, p.o.Release)
	}
}

func (p *provider) order(d *groupController, nodes int) int {
	idle := slices.DeleteFunc(d.in(free), func(l *lease) bool { return p.w.nodes.away[l.node.ID] > 1 })
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

func (p *provider) come(got []stateChange) {
	changed := false
	for _, g := range got {
		if g.current() {
			p.w.nodes.away[g.node.ID]--
			p.watch(g.enter(ready))
			changed = true
		}
	}
	if changed {
		p.w.changed()
	}
}

func (p *provider) watch(here stateChange) {
	if here.spot == nil {
		return
	}
	hours := here.spot.ExpFloat64() / here.node.Interruptions
	p.w.agenda.push(entry{at: p.w.now.Add(seconds(3600 * hours)), what: func(*World) {
		if here.current() {
			p.reclaim(here.lease)
		}
	}})
}

func (p *provider) reclaim(l *lease) {
	for _, g := range p.w.on(func(id cluster.NodeID) bool { return id == l.node.ID }) {
		p.w.lose(g, fmt.Sprintf("the provider reclaimed %s", l.node.ID), (*agent).checkpoint)
	}
	p.leave(l, p.o.Notice)
	p.w.changed()
}

func (p *provider) Return(nodes []cluster.NodeID) error {
	for _, id := range nodes {
		l := p.leases[id]
		if l == nil || l.state != ready {
			return fmt.Errorf("sim: node %s: returned, want a node that is rented and ready", id)
		}
		if on := p.w.on(func(other cluster.NodeID) bool { return other == id }); len(on) > 0 {
			return fmt.Errorf("sim: node %s: returned, want a node without jobs: job %s is on it", id, on[0].spec.ID)
		}
		p.leave(l, p.o.Release)
	}
	p.w.changed()
	return nil
}

func (p *provider) leave(l *lease, after time.Duration) {
	if l.state == ready {
		p.w.nodes.away[l.node.ID]++
	}
	gone := l.enter(leaving)
	p.w.agenda.push(entry{at: p.w.now.Add(after), what: func(w *World) {
		if gone.current() {
			l.enter(free)
			w.changed()
		}
	}})
}
