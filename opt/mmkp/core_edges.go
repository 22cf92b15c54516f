package mmkp

import "math"

type candidate struct {
	plane int   // the plane it leaves; of a tie, the first of the item
	falls int32 // column that becomes worse on it; -1 if no tie
	slope float64
	rate  float64 // slope per value of all capacity that the prices move by
}

// steepest puts the steepest edge that leads down into s.steep, and returns the plane it leaves and its slope; -1 if
// no edge leads down.
//
// Each plane of a price has an edge to each side. An item tied between m + 1 columns has m + 1 edges: on each, one
// column becomes worse than the others.
func (s *coreProblem) steepest() (leaves int, slope float64) {
	best := candidate{plane: -1, rate: -1e-9}
	for r := range s.planes {
		p := &s.planes[r]
		if p.bend == tie {
			s.tryTie(r, &best)
			continue
		}
		for _, sign := range [2]float64{1, -1} {
			if p.bend == floor && sign < 0 || p.bend == roof && sign > 0 {
				continue
			}
			clear(s.edge)
			s.turn(r, sign)
			s.try(r, -1, &best)
		}
	}
	if best.plane >= 0 && best.falls >= 0 {
		best.plane = s.isolate(best.plane, best.falls)
	}
	return best.plane, best.slope
}

func (s *coreProblem) tryTie(r int, best *candidate) {
	if !s.leads(r) {
		return
	}
	for q := r; q < s.K; q++ {
		if !s.alike(q, r) {
			continue
		}
		for _, c := range [2]int32{s.planes[q].a, s.planes[q].b} {
			clear(s.edge)
			for o := r; o < s.K; o++ {
				switch {
				case !s.alike(o, r):
				case s.planes[o].a == c: // dearer by the normal
					s.turn(o, 1)
				case s.planes[o].b == c:
					s.turn(o, -1)
				}
			}
			s.try(r, c, best)
		}
	}
}

// turn adds sign times the direction that leaves plane r alone to s.edge.
func (s *coreProblem) turn(r int, sign float64) {
	for k := range s.edge {
		s.edge[k] += sign * s.inverse[k*s.K+r]
	}
}

func (s *coreProblem) try(r int, falls int32, best *candidate) {
	size := 0.0
	for k, b := range s.Capacity {
		size += math.Abs(s.edge[k]) * b
	}
	if slope := s.slope(s.edge); slope < best.rate*size {
		*best = candidate{r, falls, slope, slope / size}
		copy(s.steep, s.edge)
	}
}

// isolate rewrites the ties of the item that plane r ties first, so that only one of them contains column c, and
// returns it. The vertex stays the same: if c = o and c = x, then o = x.
func (s *coreProblem) isolate(r int, c int32) (only int) {
	only = -1
	for q := r; q < s.K; q++ {
		p := &s.planes[q]
		if !s.alike(q, r) || p.a != c && p.b != c {
			continue
		}
		if p.b == c {
			p.a, p.b, p.at = p.b, p.a, -p.at
		}
		if only < 0 {
			only = q
			continue
		}
		p.a = s.planes[only].b
		p.at = s.Columns[p.a].Nudged - s.Columns[p.b].Nudged
	}
	return only
}

func (s *coreProblem) slope(d []float64) float64 {
	total := 0.0
	for k, free := range s.idle {
		total += free * d[k]
	}
	for r := range s.planes {
		if s.leads(r) {
			_, least := s.cheapest(r, d)
			total -= least
		}
	}
	return total
}

// cheapest returns the best column, in direction d, of the item tied by plane r, and its cost there.
func (s *coreProblem) cheapest(r int, d []float64) (column int32, cost float64) {
	cost = math.Inf(1)
	for _, p := range s.planes[r:] {
		if p.bend != tie || p.item != s.planes[r].item {
			continue
		}
		for _, c := range [2]int32{p.a, p.b} {
			if x := s.Cost(&s.Columns[c], d); x < cost {
				column, cost = c, x
			}
		}
	}
	return column, cost
}
