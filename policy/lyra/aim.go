package lyra

import "github.com/oxgang/oxgang/policy/lyra/allocate"

// A prospect is what a pair has for jobs that come: GPUs of its training type that are free or
// those of flexible workers, and how many elastic jobs share what base demands leave.
type prospect struct{ room, sharers int }

// aim finds the pair on whose training servers each waiting job with a known speed would be
// fastest, among the pairs with room for its base demand.
func (r *round) aim() {
	if len(r.pairs) < 2 {
		return
	}
	all := r.prospects()
	for _, t := range r.tenants {
		if t.aim = none; t.waits() && !t.stuck && t.modelled() {
			r.point(t, all)
		}
	}
}

// prospects returns what each pair has.
func (r *round) prospects() []prospect {
	all := make([]prospect, len(r.pairs))
	for k, at := range r.pairs {
		if own := at[allocate.Training]; own != none {
			all[k].room = r.free[own]
		}
	}
	for n := range r.nodes {
		if h := &r.nodes[n]; r.spots[h.t].side == allocate.Training {
			all[r.spots[h.t].pair].room += h.flexible
		}
	}
	for _, t := range r.tenants {
		if t.pair != none && t.elastic() {
			all[t.pair].sharers++
		}
	}
	return all
}

// point aims a job at the pair on which it is fastest by its model with its base demand and an
// equal share of what is left beside, and counts it there.
func (r *round) point(t *tenant, all []prospect) {
	fastest := 0.0
	for k, at := range r.pairs {
		if !r.belongs(t, at) {
			continue
		}
		if rate := r.hope(t, at[allocate.Training], all[k]); rate > fastest {
			t.aim, fastest = k, rate
		}
	}
	if t.aim == none {
		return
	}
	own := r.pairs[t.aim][allocate.Training]
	r.demand(t, own)
	all[t.aim].room -= r.gpus(t, own, t.least)
	if t.elastic() {
		all[t.aim].sharers++
	}
}

// hope returns the progress per second of a job on a GPU type of which there is so much; 0 if
// that is too little, or the job is not to run there.
func (r *round) hope(t *tenant, at int, p prospect) float64 {
	r.demand(t, at)
	left := p.room - r.gpus(t, at, t.least)
	if t.least == 0 || left < 0 {
		return 0
	}
	if t.rates == nil {
		return r.speed(t, at)
	}
	share := left / (p.sharers + 1) / r.gpus(t, at, 1)
	return t.rates[min(share, t.top-t.least)]
}
