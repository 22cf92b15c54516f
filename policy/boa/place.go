package boa

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// place places the jobs that move: those that shrink, then those without GPUs, those that end soonest first,
// then those that grow. Source: BOA §5.2, "Job Allocation".
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
		if at.held == nil && r.plan.Jobs[at.index].Why.Kind == policy.WaitNoCapacity {
			r.grantOther(at)
		}
	}
}

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

func (r *round) grant(i int, g *goal, held *pool) {
	j, d := r.s.Jobs[i], &r.plan.Jobs[i]
	switch {
	case g.offer < 0 && held != nil:
		r.stay(i, policy.Reason{Kind: policy.AsPlanned})
		return
	case g.offer < 0:
		d.Why = policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: max(1, j.GPUs, j.MinGPUs)}}
		return
	}
	if held != nil {
		r.release(held, j.Placement)
	}
	y := r.pool(g.GPUType)
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

// seat finds GPUs for a job, on its own nodes first. why: nodes are still missing, or, without parts, room or
// budget.
func (r *round) seat(y *pool, g *goal, own map[cluster.NodeID]bool) (parts []part, why policy.Reason) {
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
	if paying, most := r.affordable(busier, more); paying > most {
		return nil, policy.Reason{Kind: policy.WaitBudget, Config: g.Configuration, Value: paying, Limit: most}
	}
	if away > 0 {
		why = policy.Reason{Kind: policy.WaitNodes, Config: g.Configuration, Value: float64(away)}
	}
	return parts, why
}

// affordable returns the cost per hour with more nodes used and opened, and the limit: long-term for used nodes,
// short-term for all.
func (r *round) affordable(busier, more float64) (paying, most float64) {
	if paying = r.using + busier; busier > 0 && paying > r.later {
		return paying, r.later
	}
	if more == 0 {
		return 0, 0
	}
	return r.paying + more, r.soon
}

func (r *round) occupy(y *pool, parts []part) cluster.Placement {
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

func own(j *policy.Job, held *pool) map[cluster.NodeID]bool {
	if held == nil {
		return nil
	}
	nodes := make(map[cluster.NodeID]bool, len(j.Placement))
	for _, s := range j.Placement {
		nodes[s.Node] = true
	}
	return nodes
}

func (r *round) free(y *pool) int {
	total := 0
	for i := range y.nodes {
		if y.nodes[i].id != "" {
			total += max(0, y.nodes[i].free.GPUs)
		}
	}
	return total
}

func (r *round) open(y *pool, offer int) bool {
	if offer >= len(r.s.Rentals) {
		return false
	}
	if !r.more(offer) || r.s.Rentals[offer].Refused {
		for i := range r.s.Rentals {
			if r.more(i) && !r.s.Rentals[i].Refused && alike(&r.offers[i], &r.offers[offer]) {
				offer = i
				break
			}
		}
	}
	if !r.more(offer) {
		return false
	}
	r.opened[offer]++
	l := &r.s.Rentals[offer]
	size := l.Node.Capacity.GPUs
	y.add(slot{group: offer, size: size, free: cluster.Resources{GPUs: size}, paid: r.opened[offer] <= l.Ready+l.Starting})
	return true
}

func (r *round) more(offer int) bool { return r.opened[offer] < r.offers[offer].Most }

func alike(a, b *cluster.Offer) bool {
	return a.Node.GPUType == b.Node.GPUType && a.Node.Capacity.GPUs == b.Node.Capacity.GPUs
}

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

// A fill measures how full shared nodes are, because the cost of a width depends on it.
type fill struct {
	at         time.Time
	used, gpus int     // since at
	had, paid  float64 // GPU-hours used and paid before at
}

func (f *fill) enter(now time.Time) {
	if !f.at.IsZero() {
		hours := now.Sub(f.at).Hours()
		f.had += hours * float64(f.used)
		f.paid += hours * float64(f.gpus)
	}
	f.at = now
}

// aloneFill is the mean part of a node that the last GPUs of a job fill alone. priorHours is its weight before
// measurements, in GPU-hours.
const (
	aloneFill  = 0.5
	priorHours = 48
)

func (f *fill) part() float64 { return (aloneFill*priorHours + f.had) / (priorHours + f.paid) }
