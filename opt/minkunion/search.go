package minkunion

import (
	"math"
	"slices"
)

// A searcher is one search: what is asked, the best answer so far, and the node it is at.
type searcher struct {
	p    *Problem
	o    Options
	unit int64 // prices are whole multiples of 1/unit
	w    *network

	best []int
	cost int64

	lambda      int64
	paid        int64 // for the elements of this node's union, in 1/unit
	left, right corner
	trail       []step
	rest        int64 // the least L of what was not searched, in 1/unit
	nodes       int
	open        nodes
	filed       int // nodes
}

// A step is an element that was paid for, or a set that was left out.
type step struct {
	index int
	paid  bool
}

// Solve returns the best answer found within o's limits, and a bound that proves how good
// it is. It errs on what Validate complains of. It costs a little more than o.MaxSteps looks at edges, and Pick times the
// number of sets to start. If a quarter of the steps does not end the search, annealing has half of them.
func Solve(p *Problem, o Options) (*Solution, error) {
	if err := p.Validate(); err != nil {
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

// ceil returns a/b, rounded up.
func ceil(a, b int64) int64 {
	q := a / b
	if a > q*b {
		q++
	}
	return q
}

// newSearcher takes prices as fine as the numbers allow, up to half a unit of cost lost.
func newSearcher(p *Problem, o Options) *searcher {
	m := len(p.Elements)
	s := &searcher{p: p, o: o, cost: math.MaxInt64, rest: math.MaxInt64}
	s.o.Slack = max(1, o.Slack)
	s.unit = max(1, min(int64(2*len(p.Sets)+1), maxTotal/p.total()/int64(len(p.Sets)+1)))
	s.w = newNetwork(p, s.unit)
	s.left.covered, s.right.covered = make([]bool, m), make([]bool, m)
	return s
}

// enough returns the largest L, in 1/unit, with which a node may still hold an answer that
// is better by Slack.
func (s *searcher) enough() int64 { return (s.cost - s.o.Slack) * s.unit }

// try keeps an answer if it has n sets and is better.
func (s *searcher) try(picked []int) {
	if len(picked) != s.p.Pick {
		return
	}
	if cost := s.p.Cost(picked); cost < s.cost {
		s.best, s.cost = picked, cost
	}
}

// expand divides the node that the search is at, of which known is a bound.
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
	} else { // only sets that add no element are in question: the cheapest are best
		s.finish()
		s.leave(bound)
	}
}

// leave notes that a node of this L is not searched further.
func (s *searcher) leave(bound int64) { s.rest = min(s.rest, bound) }

// divide files the halves of the node with element e in the union and without it, the likelier one last: it is
// taken up first.
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

// choose returns the element that the closures on both sides of n disagree about and that
// the most sets have; -1 if they agree.
func (s *searcher) choose() int {
	best, most := -1, 0
	for e, in := range s.right.covered {
		if !in || s.left.covered[e] || s.w.gone[e] {
			continue
		}
		sets := 0
		for _, i := range s.w.into[e] {
			if !s.w.out[s.w.set[i]] {
				sets++
			}
		}
		if sets > most {
			best, most = e, sets
		}
	}
	return best
}

// fix decides what would raise L too far: elements by the room the flow leaves them, sets
// by what they could not send.
func (s *searcher) fix(bound int64) {
	spare := s.enough() - bound
	s.leave(s.enough() + 1)
	for e, room := range s.w.room {
		if !s.w.gone[e] && room > spare {
			s.exclude(e)
		}
	}
	for i, excess := range s.w.excess {
		if s.w.out[i] || excess <= spare {
			continue
		}
		for _, e := range s.p.Sets[i].Elements {
			s.include(e)
		}
	}
}

// include pays for element e, if it is not paid for yet.
func (s *searcher) include(e int) {
	if s.w.gone[e] {
		return
	}
	s.w.pay(e)
	s.paid += s.p.Elements[e] * s.unit
	s.trail = append(s.trail, step{e, true})
}

// exclude bars every set that has element e.
func (s *searcher) exclude(e int) {
	for _, i := range s.w.into[e] {
		if t := int(s.w.set[i]); !s.w.out[t] {
			s.w.drop(t)
			s.trail = append(s.trail, step{t, false})
		}
	}
}

// undo takes back all steps after the first mark of them.
func (s *searcher) undo(mark int) {
	for _, st := range s.trail[mark:] {
		if st.paid {
			s.w.gone[st.index] = false
			s.paid -= s.p.Elements[st.index] * s.unit
		} else {
			s.w.out[st.index] = false
		}
	}
	s.trail = s.trail[:mark]
}
