package minkunion

import "math"

// A corner is a closure: sets, cost including paid elements, and union.
type corner struct {
	count   int
	cost    int64
	covered []bool
}

func (c *corner) at(lambda int64, n int) int64 { return c.cost + lambda*int64(n-c.count) }

// price finds the highest L. The next price is where the lines of the nearest closures below and above n sets
// cross.
func (s *searcher) price() (bound int64, done bool) {
	n := s.p.Pick
	if bound, done = s.ends(); done {
		return bound, true
	}
	for {
		bound = s.value()
		if bound > s.enough() {
			return bound, true
		}
		high := min(s.left.at(s.lambda, n), s.right.at(s.lambda, n))
		settled := bound == high && s.lambda == s.cross()
		if s.meet() == n {
			return bound, bound > s.enough()
		}
		if settled {
			return bound, false
		}
		s.lambda = s.cross()
	}
}

func (s *searcher) ends() (bound int64, done bool) {
	s.span()
	switch {
	case s.right.count < s.p.Pick:
		return math.MaxInt64, true
	case s.right.count == s.p.Pick:
		s.try(s.all())
		return s.right.cost, true
	case s.p.Pick == 0:
		s.try(nil)
		return s.left.cost, true
	}
	return 0, false
}

func (s *searcher) span() {
	s.left.count, s.left.cost = 0, s.paid
	s.right.count, s.right.cost = 0, s.paid
	clear(s.left.covered)
	clear(s.right.covered)
	for i, set := range s.p.Sets {
		if s.w.barred[i] {
			continue
		}
		s.right.count++
		s.right.cost += set.Cost * s.unit
		for _, e := range set.Elements {
			if !s.right.covered[e] && !s.w.paid[e] {
				s.right.covered[e] = true
				s.right.cost += s.p.Elements[e] * s.unit
			}
		}
	}
}

func (s *searcher) cross() int64 {
	rise, run := s.right.cost-s.left.cost, int64(s.right.count-s.left.count)
	lambda := rise / run
	if rise < 0 && lambda*run != rise {
		lambda--
	}
	return lambda
}

func (s *searcher) value() int64 {
	for i, set := range s.p.Sets {
		if !s.w.barred[i] {
			s.w.offer(i, max(0, s.lambda-set.Cost*s.unit))
		}
	}
	s.w.saturate()
	sum := s.lambda*int64(s.p.Pick) + s.paid
	for i, excess := range s.w.excess {
		if !s.w.barred[i] {
			sum -= excess
		}
	}
	return sum
}

// meet stores the flow's closure as a corner or answer, and returns its number of sets.
func (s *searcher) meet() int {
	count, cost := 0, s.paid
	for i, far := range s.w.far {
		if far >= 0 {
			count, cost = count+1, cost+s.p.Sets[i].Cost*s.unit
		}
	}
	for e, reach := range s.w.reach {
		if reach >= 0 {
			cost += s.p.Elements[e] * s.unit
		}
	}
	if count == s.p.Pick {
		s.try(s.closure())
		return count
	}
	c := &s.left
	if count > s.p.Pick {
		c = &s.right
	}
	c.count, c.cost = count, cost
	for e, reach := range s.w.reach {
		c.covered[e] = reach >= 0
	}
	return count
}

func (s *searcher) closure() []int {
	var picked []int
	for i, far := range s.w.far {
		if far >= 0 {
			picked = append(picked, i)
		}
	}
	return picked
}

func (s *searcher) all() []int {
	var picked []int
	for i, out := range s.w.barred {
		if !out {
			picked = append(picked, i)
		}
	}
	return picked
}
