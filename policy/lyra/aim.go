package lyra

import "github.com/oxgang/oxgang/policy/lyra/allocate"

// A prospect is what a pair offers to new jobs: GPUs of its training type that are free or used by flexible workers,
// and the number of elastic jobs that share the rest.
type prospect struct{ room, sharers int }

func (s *sharing) aim() {
	if len(s.pairs) < 2 {
		return
	}
	all := s.prospects()
	for _, t := range s.tenants {
		if t.aim = none; t.waits() && !t.unplaced && t.modelled() {
			s.aimAt(t, all)
		}
	}
}

func (s *sharing) prospects() []prospect {
	all := make([]prospect, len(s.pairs))
	for k, at := range s.pairs {
		if own := at[allocate.Training]; own != none {
			all[k].room = s.free[own]
		}
	}
	for n := range s.nodes {
		if h := &s.nodes[n]; s.spots[h.t].side == allocate.Training {
			all[s.spots[h.t].pair].room += h.flexible
		}
	}
	for _, t := range s.tenants {
		if t.pair != none && t.elastic() {
			all[t.pair].sharers++
		}
	}
	return all
}

func (s *sharing) aimAt(t *tenant, all []prospect) {
	fastest := 0.0
	for k, at := range s.pairs {
		if !s.belongs(t, at) {
			continue
		}
		if rate := s.expectedRate(t, at[allocate.Training], all[k]); rate > fastest {
			t.aim, fastest = k, rate
		}
	}
	if t.aim == none {
		return
	}
	own := s.pairs[t.aim][allocate.Training]
	s.demand(t, own)
	all[t.aim].room -= s.gpus(t, own, t.least)
	if t.elastic() {
		all[t.aim].sharers++
	}
}

func (s *sharing) expectedRate(t *tenant, at int, p prospect) float64 {
	s.demand(t, at)
	left := p.room - s.gpus(t, at, t.least)
	if t.least == 0 || left < 0 {
		return 0
	}
	if t.rates == nil {
		return s.speed(t, at)
	}
	share := left / (p.sharers + 1) / s.gpus(t, at, 1)
	return t.rates[min(share, t.top-t.least)]
}
