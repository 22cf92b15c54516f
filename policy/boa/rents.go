package boa

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

type option struct {
	offer int // -1: its present GPUs, which are not on offer
	cluster.Configuration
	time float64 // seconds to the job's end, with a restart unless held
	rate float64 // cost per hour
	held bool
}

func (o *option) at(price float64, rents map[cluster.GPUType]float64) float64 {
	return cost{o.time, o.rate}.at(price) + o.time*rents[o.GPUType]*float64(o.GPUs)
}

// Rents of a GPU, as parts of the value of a job's time: the first, the factor of each raise (fastRent for
// more than many options), and the last, at which all jobs take the least GPU time.
const (
	firstRent = 1e-3
	moreRent  = 1.02
	fastRent  = 1.2
	lastRent  = 1e3
	many      = 20_000
)

// ration changes goals if jobs together want too many GPUs of a type.
//
// Each GPU of such a type gets a rent, and each job takes its cheapest option, restart included. The rent rises until
// demand fits.
func (r *round) ration() {
	room := r.rooms()
	if len(room) < 2 && r.p.o.Budget > 0 {
		return // no other type to choose, and the budget bounds widths
	}
	wanted := make(map[cluster.GPUType]int)
	for k := range r.seats {
		if g := &r.seats[k].goal; g.offer >= 0 {
			wanted[g.GPUType] += g.GPUs
		}
	}
	if !above(wanted, room) {
		return
	}
	all := make([][]option, len(r.seats))
	for k := range r.seats {
		all[k] = r.options(&r.seats[k])
	}
	by := r.settle(all, room)
	for k, o := range r.fill(all, room, by) {
		if o != nil {
			r.seats[k].goal.take(o)
		}
	}
}

// fill returns each job's cheapest option. Equal jobs may all leave a type at the same rent. So rents of types with
// room then fall step by step, below firstRent at last, and jobs in their order take the cheapest option with room.
func (r *round) fill(all [][]option, room map[cluster.GPUType]int, by float64) []*option {
	take, rents := make([]*option, len(all)), maps.Clone(r.rents)
	for k := range all {
		if len(all[k]) > 0 {
			take[k] = r.cheapest(all[k])
			room[take[k].GPUType] -= take[k].GPUs
		}
	}
	for r.lower(room, by) {
		for k, was := range take {
			if was == nil {
				continue
			}
			room[was.GPUType] += was.GPUs
			if o := r.cheapest(all[k]); o.GPUs <= room[o.GPUType] {
				take[k] = o
			}
			room[take[k].GPUType] -= take[k].GPUs
		}
	}
	r.rents = rents
	return take
}

func (r *round) lower(room map[cluster.GPUType]int, by float64) bool {
	lowered := false
	for t, rent := range r.rents {
		if room[t] > 0 && rent >= firstRent {
			r.rents[t], lowered = rent/by, true
		}
	}
	return lowered
}

func (r *round) rooms() map[cluster.GPUType]int {
	room := make(map[cluster.GPUType]int)
	for _, y := range r.pools {
		for i := range y.nodes {
			room[y.gpu] += max(0, y.fits(&y.nodes[i]))
		}
	}
	for i := range r.s.Rentals {
		l := &r.s.Rentals[i]
		most := l.Most
		if l.Refused {
			most = l.Ready + l.Starting
		}
		room[l.Node.GPUType] += max(0, most-r.opened[i]) * l.Node.Capacity.GPUs
	}
	return room
}

func above(wanted, room map[cluster.GPUType]int) bool {
	for t, gpus := range wanted {
		if gpus > room[t] {
			return true
		}
	}
	return false
}

// settle raises rents until no type is overbooked, and returns the factor of each raise. It ends because
// rents stop at lastRent.
func (r *round) settle(all [][]option, room map[cluster.GPUType]int) float64 {
	r.rents = make(map[cluster.GPUType]float64)
	by, options := moreRent, 0
	for _, of := range all {
		options += len(of)
	}
	if options > many {
		by = fastRent
	}
	for {
		wanted, raised := r.demand(all), false
		for t, gpus := range wanted {
			if gpus > room[t] && r.rents[t] < lastRent {
				r.rents[t], raised = max(firstRent, by*r.rents[t]), true
			}
		}
		if !raised {
			return by
		}
	}
}

func (r *round) demand(all [][]option) map[cluster.GPUType]int {
	wanted := make(map[cluster.GPUType]int)
	for _, of := range all {
		if len(of) > 0 {
			o := r.cheapest(of)
			wanted[o.GPUType] += o.GPUs
		}
	}
	return wanted
}

func (r *round) cheapest(of []option) *option {
	price, best, least := r.p.price(), 0, math.Inf(1)
	for i := range of {
		if v := of[i].at(price, r.rents); v < least {
			best, least = i, v
		}
	}
	return &of[best]
}

func (g *goal) take(o *option) {
	g.offer, g.Configuration, g.left = o.offer, o.Configuration, o.time
	g.stay, g.why = o.held, policy.Reason{}
	if o.held {
		g.why.Kind = policy.AsPlanned
	}
}

func (p *Policy) price() float64 {
	switch {
	case p.widths != nil:
		return p.widths.price
	case p.o.Budget == 0:
		return 0
	}
	return math.Inf(1)
}

func (r *round) options(at *seat) []option {
	j := r.s.Jobs[at.index]
	var all []option
	if held := j.Allocation.Configuration; j.Holding() {
		all = r.option(all, j, r.carrier(&held), held)
	}
	if at.goal.offer >= 0 {
		all = r.option(all, j, at.goal.offer, at.goal.Configuration)
	}
	known := len(all)
	for k := 0; k < len(r.ends) && (k == 0 || len(all) == known); k++ {
		for i := range r.offers[:r.ends[k]] {
			for _, gpus := range amounts(j, &r.offers[i], r.p.o.Widest) {
				all = r.option(all, j, i, r.offers[i].Fewest(gpus))
			}
		}
	}
	return all
}

func (r *round) option(to []option, j *policy.Job, offer int, c cluster.Configuration) []option {
	o := option{offer: offer, Configuration: c, held: j.Holding() && c == j.Allocation.Configuration}
	if slices.ContainsFunc(to, func(was option) bool { return was.Configuration == c && was.offer == offer }) {
		return to
	}
	left, restart := r.p.ahead(j, c)
	if math.IsInf(left, 1) && !o.held {
		return to
	}
	if !o.held {
		left += restart
	}
	o.time = left
	if offer >= 0 {
		o.rate = float64(c.GPUs) * r.offers[offer].GPUPrice()
	}
	return append(to, o)
}

// ahead returns the seconds to a job's end on c, infinite if it does not run on it, and of a restart: by its
// class if known, else by its model. An unknown end is an hour on one replica away.
func (p *Policy) ahead(j *policy.Job, c cluster.Configuration) (left, restart float64) {
	if w := p.widths; w != nil && j.Class != "" {
		if class, ok := w.class[j.Class]; ok {
			epochs := len(w.ends[class])
			left = w.time(c, stretch{class: class, epoch: min(max(0, j.Epoch), epochs-1), end: epochs, done: j.Done(p.now)})
			if !math.IsInf(left, 1) {
				return left, w.table.problem.classes[class].Restart.Seconds()
			}
		}
	}
	v := goodput(j, c)
	if v <= 0 {
		return math.Inf(1), 0
	}
	work := p.remaining(j)
	if math.IsInf(work, 1) {
		one := goodput(j, cluster.Configuration{Nodes: 1, GPUs: j.ReplicaGPUs(c.GPUType), GPUType: c.GPUType})
		work = later.Seconds() * cmp.Or(max(0, one), v)
	}
	return work / v, j.RestartOverhead.Seconds()
}

func (r *round) grantOther(at *seat) {
	waits := r.plan.Jobs[at.index].Why
	all, price := r.options(at), r.p.price()
	slices.SortStableFunc(all, func(a, b option) int {
		return cmp.Compare(a.at(price, r.rents), b.at(price, r.rents))
	})
	for k := range all {
		g := at.goal
		g.take(&all[k])
		if g.offer < 0 || g.Configuration == at.goal.Configuration {
			continue
		}
		if r.grant(at.index, &g, nil); r.plan.Jobs[at.index].Why.Kind != policy.WaitNoCapacity {
			return
		}
	}
	r.plan.Jobs[at.index].Why = waits
}
