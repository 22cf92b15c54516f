package minkunion

import "slices"

func (s *searcher) begin() {
	whole, shared := s.weights()
	s.try(s.completed(s.shrink(), whole).picked())
	for _, picked := range s.o.Start {
		s.try(slices.Clone(picked))
	}
	if len(s.o.Start) == 0 {
		s.try(s.completed(s.mark(nil), whole).picked())
		s.try(s.completed(s.mark(nil), shared).picked())
	}
	s.from(s.mark(s.best))
}

func (s *searcher) mark(picked []int) []bool {
	in := make([]bool, len(s.p.Sets))
	for _, i := range picked {
		in[i] = true
	}
	return in
}

func (s *searcher) weights() (whole, shared []float64) {
	whole, shared = make([]float64, len(s.p.Elements)), make([]float64, len(s.p.Elements))
	for e, c := range s.p.Elements {
		whole[e] = float64(c)
		shared[e] = float64(c) / float64(max(1, len(s.w.into[e])))
	}
	return whole, shared
}

func (s *searcher) finish() {
	whole, _ := s.weights()
	g := s.greedy(whole)
	for e, in := range s.left.covered {
		if in || s.w.paid[e] {
			g.buy(e)
		}
	}
	s.complete(g)
	s.from(g.taken)
}

func (s *searcher) from(picked []bool) {
	whole, _ := s.weights()
	s.mend(s.completed(picked, whole))
}

func (s *searcher) completed(picked []bool, weight []float64) *greedy {
	g := s.greedy(weight)
	for i, in := range picked {
		if in && g.count < s.p.Pick {
			g.pick(i)
		}
	}
	s.complete(g)
	return g
}

func (s *searcher) complete(g *greedy) {
	for g.count < s.p.Pick {
		g.pick(g.cheapest(-1))
	}
}

func (s *searcher) mend(g *greedy) {
	for better := true; better; {
		better = false
		for e := range s.p.Elements {
			if g.have[e] > 0 && s.w.steps <= s.o.MaxSteps {
				better = g.swap(e) || better
			}
		}
	}
	s.try(g.picked())
}

// shrink drops the elements of highest cost per set lost while n sets are left.
func (s *searcher) shrink() []bool {
	left, count := make([]bool, len(s.p.Sets)), len(s.p.Sets)
	for i := range left {
		left[i] = true
	}
	for {
		e, lost := s.dearest(left, count-s.p.Pick)
		if e < 0 {
			return left
		}
		for _, i := range s.w.into[e] {
			left[s.w.set[i]] = false
		}
		count -= lost
	}
}

func (s *searcher) dearest(left []bool, spare int) (element, sets int) {
	best, lost := -1, 0
	for e, c := range s.p.Elements {
		have := 0
		s.w.steps += len(s.w.into[e]) / 2 // only counting
		for _, i := range s.w.into[e] {
			if left[s.w.set[i]] {
				have++
			}
		}
		if have == 0 || have > spare {
			continue
		}
		if best < 0 || float64(c)*float64(lost) > float64(s.p.Elements[best])*float64(have) {
			best, lost = e, have
		}
	}
	return best, lost
}

// A greedy builds an answer. A set's score is its additional cost.
type greedy struct {
	s      *searcher
	weight []float64
	score  []float64
	taken  []bool
	have   []int // taken sets with the element, plus one if paid
	count  int
	cost   int64
}

func (s *searcher) greedy(weight []float64) *greedy {
	g := &greedy{s: s, weight: weight, score: make([]float64, len(s.p.Sets))}
	g.taken, g.have = make([]bool, len(s.p.Sets)), make([]int, len(s.p.Elements))
	for i, set := range s.p.Sets {
		g.score[i] = float64(set.Cost)
		for _, e := range set.Elements {
			g.score[i] += g.weight[e]
		}
	}
	return g
}

func (g *greedy) picked() []int {
	var picked []int
	for i, in := range g.taken {
		if in {
			picked = append(picked, i)
		}
	}
	return picked
}

func (g *greedy) cheapest(but int) int {
	best := -1
	g.s.w.steps += len(g.score) / 8 // as many edges
	for i, score := range g.score {
		if !g.taken[i] && (best < 0 || score < g.score[best]) && !slices.Contains(g.s.p.Sets[i].Elements, but) {
			best = i
		}
	}
	return best
}

func (g *greedy) pick(i int) {
	g.taken[i] = true
	g.count++
	g.cost += g.s.p.Sets[i].Cost
	for _, e := range g.s.p.Sets[i].Elements {
		g.buy(e)
	}
}

func (g *greedy) buy(e int) {
	g.have[e]++
	if g.have[e] == 1 {
		g.cost += g.s.p.Elements[e]
		g.add(e, -g.weight[e])
	}
}

func (g *greedy) leave(i int) {
	g.taken[i] = false
	g.count--
	g.cost -= g.s.p.Sets[i].Cost
	for _, e := range g.s.p.Sets[i].Elements {
		g.have[e]--
		if g.have[e] == 0 {
			g.cost -= g.s.p.Elements[e]
			g.add(e, g.weight[e])
		}
	}
}

func (g *greedy) add(e int, score float64) {
	for _, i := range g.s.w.into[e] {
		g.s.w.steps++
		g.score[g.s.w.set[i]] += score
	}
}

func (g *greedy) swap(e int) bool {
	before := g.cost
	var left, came []int
	for _, i := range g.s.w.into[e] {
		if set := int(g.s.w.set[i]); g.taken[set] {
			g.leave(set)
			left = append(left, set)
		}
	}
	for range left {
		if next := g.cheapest(e); next >= 0 {
			g.pick(next)
			came = append(came, next)
		}
	}
	if len(came) == len(left) && g.cost < before {
		return true
	}
	for _, i := range came {
		g.leave(i)
	}
	for _, i := range left {
		g.pick(i)
	}
	return false
}
