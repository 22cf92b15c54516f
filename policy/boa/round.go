package boa

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// A round is a plan in the making. A job without a reason has no decision yet.
type round struct {
	p      *Policy
	s      *policy.Snapshot
	plan   *policy.Plan
	offers []cluster.Offer
	ends   []int // see Policy.offers
	yards  []*yard
	at     map[cluster.NodeID]int // of a node that is there: index in the nodes of its yard
	broken []int                  // by rental: nodes that are paid, and neither there nor on their way
	opened []int                  // by offer: nodes that are there, broken, or were opened
	paying float64                // per hour: nodes that are there, come or go, and those that are opened
	using  float64                // per hour: of those, less nodes on which nobody is or is to be
	seats  []seat                 // of the jobs to decide about, in their order
}

// A seat is a job to decide about, and what it is to have.
type seat struct {
	index int // of the job
	goal  goal
	held  *yard // where the plan has what the job holds; nil: it has nothing
}

// A goal is what a job is to have.
type goal struct {
	offer int // -1: nothing would do
	cluster.Configuration
	left float64 // seconds to the end of the job with it, without restarts; infinite if not known
	stay bool    // what the job holds is as good, or a restart does not pay
	why  policy.Reason
}

// soon is for how long what is paid may go on at a rate that the promise does not allow
// for longer: nobody is stopped for less.
const (
	soon  = 10 * time.Minute
	later = time.Hour
)

func (p *Policy) newRound(s *policy.Snapshot, offers []cluster.Offer, ends []int) *round {
	r := &round{
		p: p, s: s, offers: offers, ends: ends, plan: &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))},
		at: make(map[cluster.NodeID]int, len(s.Cluster.Nodes())), opened: make([]int, len(offers)),
	}
	for _, n := range s.Cluster.Nodes() {
		y := r.yard(n.GPUType)
		r.at[n.ID] = len(y.nodes)
		group := r.group(&n)
		if group >= 0 {
			r.opened[group]++
		}
		y.add(plot{id: n.ID, group: group, size: n.Capacity.GPUs, free: n.Capacity, paid: true})
	}
	for i := range s.Rentals {
		l := &s.Rentals[i]
		r.broken = append(r.broken, max(0, l.Ready-r.opened[i]))
		r.opened[i] += r.broken[i]
		r.paying += float64(l.Ready+l.Starting+l.Leaving) * nodePrice(&offers[i])
		r.using += float64(l.Leaving) * nodePrice(&offers[i])
	}
	return r
}

// yard returns the yard of a GPU type, new if there is none.
func (r *round) yard(t cluster.GPUType) *yard {
	if i := slices.IndexFunc(r.yards, func(y *yard) bool { return y.gpu == t }); i >= 0 {
		return r.yards[i]
	}
	y := &yard{gpu: t}
	if info, ok := r.s.Cluster.Type(t); ok && info.Counts() {
		y.share = info.Share
	}
	r.yards = append(r.yards, y)
	return y
}

// group returns the offer of a rented node; -1 if it is owned.
func (r *round) group(n *cluster.Node) int {
	if n.Tenure != cluster.Rented {
		return -1
	}
	return slices.IndexFunc(r.s.Rentals, func(l cluster.Rental) bool { return l.Group == n.Group })
}

// pin decides for the jobs that leave no choice: those being profiled get nothing, and
// non-preemptive ones keep what they hold. Reservations are granted next.
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

// hold takes what a job holds off its nodes, and returns their yard; nil if it is no
// longer there.
func (r *round) hold(j *policy.Job) *yard {
	if len(j.Placement) == 0 {
		return nil
	}
	y := r.yard(j.Allocation.GPUType)
	if !y.has(j.Placement, r.at) {
		return nil
	}
	r.using += r.spare(y, j.Placement)
	for _, s := range j.Placement {
		y.use(r.at[s.Node], s.Resources)
	}
	return y
}

// spare returns what the nodes of a placement, which all are there, cost per hour on which
// nobody is.
func (r *round) spare(y *yard, p cluster.Placement) float64 {
	total := 0.0
	for _, s := range p {
		if n := &y.nodes[r.at[s.Node]]; !n.used {
			total += r.price(n)
		}
	}
	return total
}

// price returns what a node costs per hour.
func (r *round) price(n *plot) float64 {
	if n.group < 0 {
		return 0
	}
	return nodePrice(&r.offers[n.group])
}

// release gives what a job holds back to its nodes.
func (r *round) release(y *yard, p cluster.Placement) {
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

// reserve grants job i its reservation where it holds it, or on the nodes that are there
// or come.
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

// carrier returns the first offer of which enough nodes can carry a configuration; -1 if
// there is none.
func (r *round) carrier(c *cluster.Configuration) int {
	return slices.IndexFunc(r.offers, func(o cluster.Offer) bool {
		return o.Node.GPUType == c.GPUType && c.Nodes <= o.Most && c.GPUs <= c.Nodes*o.Node.Capacity.GPUs
	})
}

// aim finds what every other job is to have.
func (r *round) aim() {
	r.seats = make([]seat, 0, len(r.s.Jobs))
	for i, j := range r.s.Jobs {
		if r.plan.Jobs[i].Why.Kind == policy.Unexplained {
			r.seats = append(r.seats, seat{index: i, goal: r.p.goal(j, r.offers, r.ends)})
		}
	}
}

// keep leaves jobs where they are: for good if they have what they are to have, the
// others until they can move.
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

// stop takes their GPUs from jobs with the most time left until what the nodes of the
// others cost may go on being paid. Those whose nodes are paid all the same stay.
func (r *round) stop() {
	most := r.p.most(r.s, soon)
	if r.using <= most {
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
	for ; n < len(running) && r.using > most; n++ {
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

// stay leaves job i where it is.
func (r *round) stay(i int, why policy.Reason) {
	j := r.s.Jobs[i]
	r.plan.Jobs[i] = policy.Decision{Allocation: j.Allocation, Placement: j.Placement, Why: why}
}

// place gives the other jobs what they are to have: those that give GPUs back first, then
// those that have none, those that are done soonest first, then those that grow.
// Source: BOA §5.2, "Job Allocation".
func (r *round) place() {
	var moving []*seat
	for k := range r.seats {
		if r.plan.Jobs[r.seats[k].index].Why.Kind == policy.Unexplained {
			moving = append(moving, &r.seats[k])
		}
	}
	slices.SortStableFunc(moving, func(a, b *seat) int {
		return cmp.Or(cmp.Compare(r.turn(a), r.turn(b)), cmp.Compare(a.goal.left, b.goal.left))
	})
	for _, at := range moving {
		r.grant(at.index, &at.goal, at.held)
	}
}

// turn orders the jobs that move.
func (r *round) turn(at *seat) int {
	held := r.s.Jobs[at.index].Allocation.GPUs
	switch {
	case at.held == nil:
		return 1
	case at.goal.GPUs < held:
		return 0
	default:
		return 2
	}
}

// grant gives job i its goal, if there is room on nodes that are there; if not, and more
// can be had, nodes are kept or rented for it, and until they are there it keeps what it
// has.
func (r *round) grant(i int, g *goal, held *yard) {
	j, d := r.s.Jobs[i], &r.plan.Jobs[i]
	switch {
	case g.offer < 0 && held != nil: // what it was granted is not to be had any more
		r.stay(i, policy.Reason{Kind: policy.AsPlanned})
		return
	case g.offer < 0:
		d.Why = policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: max(1, j.GPUs, j.MinGPUs)}}
		return
	}
	if held != nil {
		r.release(held, j.Placement)
	}
	y := r.yard(g.GPUType)
	parts, why := r.seat(y, g, own(j, held))
	if parts != nil && why.Kind == policy.Unexplained {
		r.give(i, g, r.occupy(y, parts))
		return
	}
	d.Why = why
	if held != nil && r.hold(j) != nil {
		r.stay(i, policy.Reason{Kind: policy.AsPlanned})
	}
	r.occupy(y, parts)
}

// seat finds GPUs for a job, on its own nodes first. why says what is missing: that some nodes are not there yet,
// or, where there are no parts, room.
func (r *round) seat(y *yard, g *goal, own map[cluster.NodeID]bool) (parts []part, why policy.Reason) {
	needs := split(&g.Configuration, r.offers[g.offer].Node.Capacity.GPUs)
	parts = y.seat(needs, own, func() bool { return r.open(y, g.offer) })
	if parts == nil {
		return nil, policy.Reason{Kind: policy.WaitNoCapacity, Config: g.Configuration, Value: float64(r.free(y)), Limit: float64(g.GPUs)}
	}
	busier, more, away := 0.0, 0.0, 0
	for _, at := range parts {
		n := &y.nodes[at.node]
		if !n.used {
			busier += r.price(n)
		}
		if !n.paid {
			more += r.price(n)
		}
		if n.id == "" {
			away++
		}
	}
	if paying, most := r.dear(busier, more); paying > most {
		return nil, policy.Reason{Kind: policy.WaitBudget, Config: g.Configuration, Value: paying, Limit: most}
	}
	if away > 0 {
		why = policy.Reason{Kind: policy.WaitNodes, Config: g.Configuration, Value: float64(away)}
	}
	return parts, why
}

// dear returns what would be paid per hour if more nodes were used, and opened, and what may
// be: for long, for the nodes in use; and for as long as it takes to be rid of the others,
// for all.
func (r *round) dear(busier, more float64) (paying, most float64) {
	if paying, most = r.using+busier, r.p.most(r.s, later); busier > 0 && paying > most {
		return paying, most
	}
	if more == 0 {
		return 0, 0
	}
	return r.paying + more, r.p.most(r.s, soon)
}

// occupy takes parts off their nodes, but for those that are taken: where a job waits for
// others, its own. It returns the placement of those that are there.
func (r *round) occupy(y *yard, parts []part) cluster.Placement {
	var where cluster.Placement
	for _, at := range parts {
		n := &y.nodes[at.node]
		if y.fits(n) < at.gpus {
			continue
		}
		if !n.used {
			r.using += r.price(n)
		}
		if !n.paid {
			r.paying += r.price(n)
			n.paid = true
		}
		share := cluster.Resources{GPUs: at.gpus, CPUs: float64(at.gpus) * y.share.CPUs, Memory: int64(at.gpus) * y.share.Memory}
		y.use(at.node, share)
		where = append(where, cluster.Share{Node: n.id, Resources: share})
	}
	where.Sort()
	return where
}

// split returns the GPUs on each node of a configuration, on nodes of so many GPUs: full
// nodes and the rest, or evenly if it names more nodes than need be.
func split(c *cluster.Configuration, node int) []int {
	even := c.Nodes > (c.GPUs+node-1)/node
	needs := make([]int, 0, c.Nodes)
	for left := c.GPUs; left > 0; left -= needs[len(needs)-1] {
		need := min(left, node)
		if even {
			nodes := c.Nodes - len(needs)
			need = (left + nodes - 1) / nodes
		}
		needs = append(needs, need)
	}
	return needs
}

// own returns the nodes on which a job holds GPUs.
func own(j *policy.Job, held *yard) map[cluster.NodeID]bool {
	if held == nil {
		return nil
	}
	nodes := make(map[cluster.NodeID]bool, len(j.Placement))
	for _, s := range j.Placement {
		nodes[s.Node] = true
	}
	return nodes
}

// free returns the GPUs that nobody has of nodes that are there.
func (r *round) free(y *yard) int {
	total := 0
	for i := range y.nodes {
		if y.nodes[i].id != "" {
			total += max(0, y.nodes[i].free.GPUs)
		}
	}
	return total
}

// open adds a node of an offer to its yard, and reports whether there is one more.
func (r *round) open(y *yard, offer int) bool {
	if offer >= len(r.s.Rentals) || r.opened[offer] >= r.offers[offer].Most {
		return false
	}
	r.opened[offer]++
	l := &r.s.Rentals[offer]
	size := l.Node.Capacity.GPUs
	y.add(plot{group: offer, size: size, free: cluster.Resources{GPUs: size}, paid: r.opened[offer] <= l.Ready+l.Starting})
	return true
}

// give grants job i GPUs on nodes that are there.
func (r *round) give(i int, g *goal, where cluster.Placement) {
	j, d := r.s.Jobs[i], &r.plan.Jobs[i]
	d.Placement = where
	d.Allocation.Configuration = cluster.Configuration{Nodes: len(where), GPUs: g.GPUs, GPUType: g.GPUType}
	for _, s := range where {
		d.Allocation.CPUs, d.Allocation.Memory = d.Allocation.CPUs+s.CPUs, d.Allocation.Memory+s.Memory
	}
	before := j.Allocation.Configuration
	switch {
	case !j.Holding():
		d.Why = policy.Reason{Kind: policy.Started}
	case before.GPUType != g.GPUType || before.GPUs == g.GPUs:
		d.Why = policy.Reason{Kind: policy.Moved, Config: before}
	case before.GPUs < g.GPUs:
		d.Why = policy.Reason{Kind: policy.Grown, Config: before}
	default:
		d.Why = policy.Reason{Kind: policy.Shrunk, Config: before}
	}
}

// finish asks for the nodes that jobs are on, or are to be on; beside those that are broken,
// which nobody waits for.
// Source: BOA §5.2, "Cluster Sizing".
func (r *round) finish() {
	if len(r.s.Rentals) == 0 {
		return
	}
	r.plan.Capacity = make(map[cluster.Group]int, len(r.offers))
	for i := range r.s.Rentals {
		r.plan.Capacity[r.s.Rentals[i].Group] = r.broken[i]
	}
	for k := range r.yards {
		for i := range r.yards[k].nodes {
			n := &r.yards[k].nodes[i]
			if n.group >= 0 && n.used {
				r.plan.Capacity[r.offers[n.group].Group]++
			}
		}
	}
}

// rate returns what the widths of the plan cost per hour on rented nodes, as they were
// chosen: nodes on their way are not among it.
func (r *round) rate() float64 {
	total := 0.0
	for i := range r.plan.Jobs {
		d := &r.plan.Jobs[i]
		if len(d.Placement) == 0 {
			continue
		}
		if h := r.yard(d.Allocation.GPUType).nodes[r.at[d.Placement[0].Node]].group; h >= 0 {
			total += r.offers[h].GPUPrice() * paid(&r.offers[h], d.Allocation.GPUs, r.p.fill.part())
		}
	}
	return total
}

// shared returns the GPUs of nodes that no job has for itself, and how many of them are in
// use.
func (r *round) shared() (used, gpus int) {
	for k := range r.yards {
		for i := range r.yards[k].nodes {
			if n := &r.yards[k].nodes[i]; n.used && n.id != "" && (n.jobs > 1 || n.free.GPUs > 0) {
				used, gpus = used+n.size-n.free.GPUs, gpus+n.size
			}
		}
	}
	return used, gpus
}
