package boa

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

type round struct {
	p      *Policy
	s      *policy.Snapshot
	plan   *policy.Plan
	offers []cluster.Offer
	ends   []int // see Policy.offers
	pools  []*pool
	at     map[cluster.NodeID]int // by present node: its index in its pool
	broken []int                  // by rental: nodes paid but neither present nor starting
	opened []int                  // by offer: nodes present, broken or opened
	paying float64                // per hour: nodes present, starting, leaving or opened
	using  float64
	seats  []seat                      // undecided jobs, in order
	soon   float64                     // limit per hour for the time soon
	later  float64                     // limit per hour for the time later
	rents  map[cluster.GPUType]float64 // by GPU type: rent of a GPU, see ration
}

type seat struct {
	index int
	goal  goal
	held  *pool // pool of its present GPUs; nil: none
}

type goal struct {
	offer int // -1: none suits
	cluster.Configuration
	left float64 // seconds to the end there, without restarts; infinite if unknown
	stay bool    // the present GPUs are as good, or a restart does not pay
	why  policy.Reason
}

// soon is how far ahead the limit is checked before a job is stopped; later, before one starts.
const (
	soon  = 10 * time.Minute
	later = time.Hour
)

func (p *Policy) newRound(s *policy.Snapshot, offers []cluster.Offer, ends []int) *round {
	r := &round{
		p: p, s: s, offers: offers, ends: ends, plan: &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))},
		at: make(map[cluster.NodeID]int, len(s.Cluster.Nodes())), opened: make([]int, len(offers)),
	}
	r.soon, r.later = p.most(s, soon), p.most(s, later)
	for _, n := range s.Cluster.Nodes() {
		y := r.pool(n.GPUType)
		r.at[n.ID] = len(y.nodes)
		group := r.group(&n)
		if group >= 0 {
			r.opened[group]++
		}
		y.add(slot{id: n.ID, group: group, size: n.Capacity.GPUs, free: n.Capacity, paid: true})
	}
	for i := range s.Rentals {
		l := &s.Rentals[i]
		r.broken = append(r.broken, max(0, l.Ready-r.opened[i]))
		r.opened[i] += r.broken[i]
		r.paying += float64(l.Ready+l.Starting+l.Leaving) * offers[i].NodePrice()
		r.using += float64(l.Leaving) * offers[i].NodePrice()
	}
	return r
}

func (r *round) pool(t cluster.GPUType) *pool {
	if i := slices.IndexFunc(r.pools, func(y *pool) bool { return y.gpu == t }); i >= 0 {
		return r.pools[i]
	}
	y := &pool{gpu: t}
	if info, ok := r.s.Cluster.Type(t); ok && info.Counts() {
		y.share = info.Share
	}
	r.pools = append(r.pools, y)
	return y
}

func (r *round) group(n *cluster.Node) int {
	if n.Tenure != cluster.Rented {
		return -1
	}
	return slices.IndexFunc(r.s.Rentals, func(l cluster.Rental) bool { return l.Group == n.Group })
}

// pin makes the fixed decisions: profiled jobs get nothing, non-preemptive jobs keep their GPUs, then
// reservations are granted.
func (r *round) pin() {
	for i, j := range r.s.Jobs {
		d := &r.plan.Jobs[i]
		switch {
		case j.Phase == job.Profiling:
			d.Why.Kind = policy.WaitProfile
		case j.NonPreemptive && j.Holding() && r.hold(j) != nil:
			d.Allocation, d.Placement = j.Allocation, j.Placement
			d.Why = policy.Reason{Kind: policy.PinnedNonPreempt, Config: j.Allocation.Configuration}
		}
	}
	for i, j := range r.s.Jobs {
		if r.plan.Jobs[i].Why.Kind == policy.Unexplained && !j.Reservation.IsZero() {
			r.reserve(i, j)
		}
	}
}

func (r *round) hold(j *policy.Job) *pool {
	if len(j.Placement) == 0 {
		return nil
	}
	y := r.pool(j.Allocation.GPUType)
	if !y.has(j.Placement, r.at) {
		return nil
	}
	r.using += r.spare(y, j.Placement)
	for _, s := range j.Placement {
		y.use(r.at[s.Node], s.Resources)
	}
	return y
}

func (r *round) spare(y *pool, p cluster.Placement) float64 {
	total := 0.0
	for _, s := range p {
		if n := &y.nodes[r.at[s.Node]]; !n.used {
			total += r.price(n)
		}
	}
	return total
}

func (r *round) price(n *slot) float64 {
	if n.group < 0 {
		return 0
	}
	return r.offers[n.group].NodePrice()
}

func (r *round) release(y *pool, p cluster.Placement) {
	for _, s := range p {
		n := &y.nodes[r.at[s.Node]]
		y.change(n, s.Resources)
		n.jobs--
		if n.free.GPUs == n.size {
			n.used = false
			r.using -= r.price(n)
		}
	}
}

func (r *round) reserve(i int, j *policy.Job) {
	d := &r.plan.Jobs[i]
	if j.Allocation.Configuration == j.Reservation && r.hold(j) != nil {
		d.Allocation, d.Placement = j.Allocation, j.Placement
		d.Why = policy.Reason{Kind: policy.Reserved, Config: j.Reservation}
		return
	}
	offer := r.carrier(&j.Reservation)
	if offer < 0 {
		d.Why = policy.Reason{Kind: policy.Impossible, Config: j.Reservation}
		return
	}
	r.grant(i, &goal{offer: offer, Configuration: j.Reservation}, nil)
	switch {
	case !d.Allocation.IsZero():
		d.Why = policy.Reason{Kind: policy.Reserved, Config: j.Reservation}
	case d.Why.Kind == policy.WaitNoCapacity:
		d.Why = policy.Reason{Kind: policy.Evicted, Config: j.Reservation}
	}
}

func (r *round) carrier(c *cluster.Configuration) int {
	return slices.IndexFunc(r.offers, func(o cluster.Offer) bool {
		return o.Node.GPUType == c.GPUType && c.Nodes <= o.Most && c.GPUs <= c.Nodes*o.Node.Capacity.GPUs
	})
}

func (r *round) aim() {
	r.seats = make([]seat, 0, len(r.s.Jobs))
	for i, j := range r.s.Jobs {
		if r.plan.Jobs[i].Why.Kind == policy.Unexplained {
			r.seats = append(r.seats, seat{index: i, goal: r.p.goal(j, r.offers, r.ends)})
		}
	}
	r.ration()
}

func (r *round) keep() {
	for k := range r.seats {
		at := &r.seats[k]
		if j := r.s.Jobs[at.index]; j.Holding() {
			at.held = r.hold(j)
		}
	}
	r.stop()
	for k := range r.seats {
		if at := &r.seats[k]; at.held != nil && at.goal.stay {
			r.stay(at.index, at.goal.why)
		}
	}
}

func (r *round) stop() {
	if r.using <= r.soon {
		return
	}
	var running []*seat
	for k := range r.seats {
		if r.seats[k].held != nil {
			running = append(running, &r.seats[k])
		}
	}
	slices.SortStableFunc(running, func(a, b *seat) int { return cmp.Compare(b.goal.left, a.goal.left) })
	n := 0
	for ; n < len(running) && r.using > r.soon; n++ {
		r.release(running[n].held, r.s.Jobs[running[n].index].Placement)
	}
	for _, at := range slices.Backward(running[:n]) {
		j := r.s.Jobs[at.index]
		if r.spare(at.held, j.Placement) == 0 {
			r.hold(j)
			continue
		}
		at.held, at.goal.stay = nil, false
	}
}

func (r *round) stay(i int, why policy.Reason) {
	j := r.s.Jobs[i]
	r.plan.Jobs[i] = policy.Decision{Allocation: j.Allocation, Placement: j.Placement, Why: why}
}
