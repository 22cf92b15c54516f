package ledger

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

type pool struct {
	Pool
	there    int // GPUs, with leaving ones
	starting int // GPUs that are not up yet
	leaving  int
	price    float64
	held     int

	came, back, gone int
}

// A Movement counts the nodes that entered a pool and left it. A node that broke and was repaired is counted twice.
type Movement struct {
	Pool
	Came     int // nodes that arrived, including those at the start
	Returned int // nodes given back by a round
	Gone     int // nodes that left otherwise: taken by their owner or provider, or broken
}

// Movements returns how many nodes arrived in and left each rented and lent pool, by type, tenure and group.
func (r *Recorder) Movements() []Movement {
	var all []Movement
	for _, p := range r.pools {
		if p.Tenure != cluster.Owned {
			all = append(all, Movement{p.Pool, p.came, p.back, p.gone})
		}
	}
	slices.SortFunc(all, func(a, b Movement) int { return a.Pool.compare(b.Pool) })
	return all
}

func (r *Recorder) pool(of Pool) *pool {
	i := slices.IndexFunc(r.pools, func(p *pool) bool { return p.Pool == of })
	if i < 0 {
		i = len(r.pools)
		r.pools = append(r.pools, &pool{Pool: of})
	}
	return r.pools[i]
}

func (r *Recorder) setCluster(c *cluster.Cluster) {
	if c == r.cluster {
		return
	}
	r.moved(c)
	r.cluster = c
	for _, p := range r.pools {
		if p.Tenure != cluster.Rented {
			p.there = 0
		}
	}
	nodes := c.Nodes()
	for i := range nodes {
		if p := r.pool(poolOf(&nodes[i])); p.Tenure != cluster.Rented {
			p.there += nodes[i].Capacity.GPUs
		}
	}
}

func (r *Recorder) moved(c *cluster.Cluster) {
	nodes := c.Nodes()
	for i := range nodes {
		if r.cluster != nil {
			if _, was := r.cluster.Index(nodes[i].ID); was {
				continue
			}
		}
		if p := r.pool(poolOf(&nodes[i])); r.period.Has(r.now) {
			p.came++
		}
	}
	if r.cluster == nil {
		return
	}
	nodes = r.cluster.Nodes()
	for i := range nodes {
		id := nodes[i].ID
		if _, there := c.Index(id); there {
			continue
		}
		switch p := r.pool(poolOf(&nodes[i])); {
		case !r.period.Has(r.now):
		case r.returned[id]:
			p.back++
		default:
			p.gone++
		}
		delete(r.returned, id)
	}
}

func (r *Recorder) setRentals(rentals []cluster.Rental) {
	for _, p := range r.pools {
		if p.Tenure == cluster.Rented {
			p.there, p.starting, p.leaving = 0, 0, 0
		}
	}
	for i := range rentals {
		l := &rentals[i]
		gpus := l.Node.Capacity.GPUs
		p := r.pool(Pool{l.Node.GPUType, cluster.Rented, l.Group})
		p.price = l.GPUPrice()
		p.there += (l.Ready + l.Leaving) * gpus
		p.starting += l.Starting * gpus
		p.leaving += l.Leaving * gpus
	}
}

func (r *Recorder) settleNobody(now time.Time) {
	from := r.now
	if !now.After(from) {
		return
	}
	r.now = now
	for _, p := range r.pools {
		r.bookRest(p, r.period.overlap(from, now))
	}
}

func (r *Recorder) bookRest(p *pool, d time.Duration) {
	rest := max(0, p.there-p.held)
	leaving := min(p.leaving, rest)
	r.bookNobody(p, Free, rest-leaving, d)
	r.bookNobody(p, Leaving, leaving, d)
	r.bookNobody(p, Starting, p.starting, d)
}

func (r *Recorder) bookNobody(p *pool, use Use, gpus int, d time.Duration) {
	if gpus == 0 || d <= 0 {
		return
	}
	e := Entry{Pool: p.Pool, Use: use, Sum: Sum{Time: Of(gpus, d)}}
	if p.Tenure == cluster.Rented {
		e.Rent = float64(gpus) * p.price * d.Hours()
	}
	r.book(&e)
}

// An absence is the time from a scheduler's last record to its restart. Jobs run on meanwhile.
type absence struct {
	from     time.Time
	had      map[job.ID]*account
	restored []scheduler.Restored
	cluster  *cluster.Cluster
}

// Again continues the ledger after a restart of the scheduler at time start. Restored jobs are assumed to have held
// their GPUs meanwhile, at dual price 0. If no job is restored, no GPU time is booked for the interruption.
func (r *Recorder) Again(start time.Time, c *cluster.Cluster) {
	r.endAbsence()
	if len(r.active) == 0 && len(r.ending) > 0 && r.boundary.After(r.now) && !r.boundary.After(start) {
		r.settleNobody(r.boundary)
	}
	r.endRound()
	for _, a := range r.active {
		r.settle(a)
	}
	r.absent = &absence{from: r.now, had: r.active, cluster: c}
	r.active, r.now, r.prices, r.over = map[job.ID]*account{}, start, nil, true
	r.boundary = start
}

// Now returns the time of the last event or round.
func (r *Recorder) Now() time.Time { return r.now }

func (r *Recorder) endAbsence() {
	x := r.absent
	if x == nil {
		return
	}
	r.absent = nil
	continues := false
	for i := range x.restored {
		continues = r.bookAbsence(x, x.restored[i].Spec) || continues
	}
	for _, a := range x.had {
		a.free()
	}
	if continues {
		for _, p := range r.pools {
			r.bookRest(p, r.period.overlap(x.from, r.now))
		}
	} else {
		r.cluster = nil
	}
	for _, p := range r.pools {
		p.held = 0
	}
	r.setCluster(x.cluster.Held())
	r.setRentals(x.cluster.Rentals())
	for i := range x.restored {
		r.restore(&x.restored[i])
	}
}

func (r *Recorder) bookAbsence(x *absence, spec *job.Spec) bool {
	a := x.had[spec.ID]
	if a == nil {
		return false
	}
	delete(x.had, spec.ID)
	r.settle(a)
	return len(a.parts) > 0
}

func (r *Recorder) restore(ev *scheduler.Restored) {
	if !ev.Status.Phase.Terminal() {
		r.open(ev.Spec)
		a := r.active[ev.Spec.ID]
		a.work.place(r.now, ev.Status.Placement, true)
		r.grant(a, &ev.Status.Allocation, ev.Status.Placement)
	}
}
