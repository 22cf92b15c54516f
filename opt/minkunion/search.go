package minkunion

import (
	"math"
	"slices"
)

type searcher struct {
	p    *Problem
	o    Options
	unit int64 // prices are multiples of 1/unit
	w    *network

	best []int
	cost int64

	lambda      int64
	paid        int64 // for this node's union, in 1/unit
	left, right corner
	trail       []step
	rest        int64 // least L of unsearched parts, in 1/unit
	nodes       int
	open        nodes
	filed       int
}

type step struct {
	index int
	paid  bool
}

// Solve returns the cheapest pick of sets that it finds within the limits of o, and a proven lower bound on the cost.
// If exact search does not finish within a quarter of the steps, half of the steps go to simulated annealing. In all,
// it visits about o.MaxSteps edges, plus Pick times the number of sets.
func Solve(p *Problem, o Options) (*Solution, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	s := newSearcher(p, o)
	s.begin()
	s.file(math.MinInt64)
	s.search(o.MaxSteps / 4)
	s.anneal(o.MaxSteps / 4 * 3)
	s.search(o.MaxSteps)
	slices.Sort(s.best)
	bound := s.cost
	for _, n := range s.open {
		s.leave(n.bound)
	}
	if s.rest < s.cost*s.unit {
		bound = min(bound, ceil(s.rest, s.unit))
	}
	return &Solution{Sets: s.best, Cost: s.cost, Bound: bound, Nodes: s.nodes, Steps: s.w.steps}, nil
}

func ceil(a, b int64) int64 {
	q := a / b
	if a > q*b {
		q++
	}
	return q
}

func newSearcher(p *Problem, o Options) *searcher {
	m := len(p.Elements)
	s := &searcher{p: p, o: o, cost: math.MaxInt64, rest: math.MaxInt64}
	s.o.Slack = max(1, o.Slack)
	s.unit = max(1, min(int64(2*len(p.Sets)+1), maxTotal/p.total()/int64(len(p.Sets)+1)))
	s.w = newNetwork(p, s.unit)
	s.left.covered, s.right.covered = make([]bool, m), make([]bool, m)
	return s
}

func (s *searcher) enough() int64 { return (s.cost - s.o.Slack) * s.unit }

func (s *searcher) try(picked []int) {
	if len(picked) != s.p.Pick {
		return
	}
	if cost := s.p.Cost(picked); cost < s.cost {
		s.best, s.cost = picked, cost
	}
}

func (s *searcher) expand(known int64) {
	s.nodes++
	bound, done := s.price()
	if done {
		s.leave(max(bound, known))
		return
	}
	mark := len(s.trail)
	s.fix(bound)
	bound = max(bound, known)
	if e := s.choose(); e >= 0 {
		s.divide(e, bound)
	} else if len(s.trail) > mark {
		s.file(bound)
	} else { // only sets without new elements are left
		s.finish()
		s.leave(bound)
	}
}

func (s *searcher) leave(bound int64) { s.rest = min(s.rest, bound) }

func (s *searcher) divide(e int, bound int64) {
	mark := len(s.trail)
	likely := 2*(s.p.Pick-s.left.count) >= s.right.count-s.left.count
	for _, in := range []bool{!likely, likely} {
		if in {
			s.include(e)
		} else {
			s.exclude(e)
		}
		s.file(bound)
		s.undo(mark)
	}
}

// choose returns the most frequent element on which the corners disagree; -1: none.
func (s *searcher) choose() int {
	best, most := -1, 0
	for e, in := range s.right.covered {
		if !in || s.left.covered[e] || s.w.paid[e] {
			continue
		}
		sets := 0
		for _, i := range s.w.into[e] {
			if !s.w.barred[s.w.set[i]] {
				sets++
			}
		}
		if sets > most {
			best, most = e, sets
		}
	}
	return best
}

// fix decides what would otherwise raise L too far, by unused room and excess.
func (s *searcher) fix(bound int64) {
	spare := s.enough() - bound
	s.leave(s.enough() + 1)
	for e, room := range s.w.room {
		if !s.w.paid[e] && room > spare {
			s.exclude(e)
		}
	}
	for i, excess := range s.w.excess {
		if s.w.barred[i] || excess <= spare {
			continue
		}
		for _, e := range s.p.Sets[i].Elements {
			s.include(e)
		}
	}
}

func (s *searcher) include(e int) {
	if s.w.paid[e] {
		return
	}
	s.w.pay(e)
	s.paid += s.p.Elements[e] * s.unit
	s.trail = append(s.trail, step{e, true})
}

func (s *searcher) exclude(e int) {
	for _, i := range s.w.into[e] {
		if t := int(s.w.set[i]); !s.w.barred[t] {
			s.w.drop(t)
			s.trail = append(s.trail, step{t, false})
		}
	}
}

func (s *searcher) undo(mark int) {
	for _, st := range s.trail[mark:] {
		if st.paid {
			s.w.paid[st.index] = false
			s.paid -= s.p.Elements[st.index] * s.unit
		} else {
			s.w.barred[st.index] = false
		}
	}
	s.trail = s.trail[:mark]
}
