package minkunion

import (
	"container/heap"
	"math"
	"math/bits"
	"slices"
)

// An annealer walks between unions by single elements. A union costs its elements, plus lacking for each missing
// set.
//
// Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by Simulated Annealing", Science 220, 1983. The random
// numbers are the same in each call. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014.
type annealer struct {
	s       *searcher
	in      []bool
	sets    [][]int32
	open    []int32 // elements of each set outside the union
	count   int
	cost    int64
	lacking int64
	draws   uint64

	best  []bool // cheapest with enough sets
	least int64  // its cost; -1: none
}

func (s *searcher) anneal(steps int) {
	a := s.newAnnealer()
	if len(s.open) == 0 || a == nil {
		return
	}
	for first := s.w.steps; s.w.steps < steps; {
		mean := a.heat(s.w.steps-first, steps-first)
		for range len(a.in) {
			where, rest := bits.Mul64(a.next(), uint64(len(a.in)))
			if change := a.change(int(where)); change <= 0 || float64(change) <= mean*exponential(rest) {
				a.flip(int(where))
			}
		}
	}
	if a.least >= 0 {
		s.answer(a.best)
	}
}

// newAnnealer starts from no element. A missing set costs more than a mean element, so that sets get completed.
func (s *searcher) newAnnealer() *annealer {
	m := len(s.p.Elements)
	if m == 0 {
		return nil
	}
	a := &annealer{s: s, in: make([]bool, m), sets: make([][]int32, m), open: make([]int32, len(s.p.Sets)), least: -1}
	total := int64(0)
	for _, c := range s.p.Elements {
		total += c
	}
	a.lacking = total/int64(m) + total/int64(20*m)
	for i, set := range s.p.Sets {
		if a.open[i] = int32(len(set.Elements)); a.open[i] == 0 {
			a.count++
		}
		for _, e := range set.Elements {
			a.sets[e] = append(a.sets[e], int32(i))
		}
	}
	return a
}

func (a *annealer) next() uint64 {
	a.draws += 0x9e3779b97f4a7c15
	z := a.draws
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// heat returns a step's mean cost, which falls to a thirtieth of an element's.
func (a *annealer) heat(step, steps int) float64 {
	left := float64(steps-step) / float64(steps)
	return float64(a.lacking) * max(1.0/30, left*left)
}

// exponential makes an exponential number of mean 1 from 64 random bits, piecewise linearly.
func exponential(x uint64) float64 {
	zeros := bits.LeadingZeros64(x | 1)
	tail := 1023 - x<<zeros>>53&1023
	return math.Ln2 / 1024 * float64(uint64(zeros)*1024+tail)
}

func (a *annealer) change(e int) int64 {
	last, sign := int32(1), int64(1) // open elements of a set, if only e
	if a.in[e] {
		last, sign = 0, -1
	}
	sets := int64(0)
	for _, i := range a.sets[e] {
		if a.open[i] == last {
			sets++
		}
	}
	a.s.w.steps += len(a.sets[e])
	few := int64(a.s.p.Pick - a.count)
	return sign*a.s.p.Elements[e] + a.lacking*(max(0, few-sign*sets)-max(0, few))
}

func (a *annealer) flip(e int) {
	more, cost := int32(-1), a.s.p.Elements[e]
	if a.in[e] {
		more, cost = 1, -cost
	}
	a.in[e] = !a.in[e]
	a.cost += cost
	for _, i := range a.sets[e] {
		if a.open[i] == 0 {
			a.count--
		}
		if a.open[i] += more; a.open[i] == 0 {
			a.count++
		}
	}
	if a.count >= a.s.p.Pick && (a.least < 0 || a.cost < a.least) {
		a.best, a.least = append(a.best[:0], a.in...), a.cost
	}
}

func (s *searcher) answer(union []bool) {
	whole, _ := s.weights()
	g := s.greedy(whole)
	for e, in := range union {
		if in {
			g.buy(e)
		}
	}
	s.complete(g)
	s.from(g.taken)
}

type node struct {
	bound int64 // least L, in 1/unit
	rank  int64 // bound in units of Slack, rounded up
	order int   // insertion order, to break ties
	steps []step
}

// nodes is a heap: lowest rank first, then newest, to reach answers.
type nodes []*node

func (n nodes) Len() int { return len(n) }

func (n nodes) Swap(i, j int) { n[i], n[j] = n[j], n[i] }

func (n *nodes) Push(x any) { *n = append(*n, x.(*node)) }

func (n nodes) Less(i, j int) bool {
	if n[i].rank != n[j].rank {
		return n[i].rank < n[j].rank
	}
	return n[i].order > n[j].order
}

func (n *nodes) Pop() any {
	last := len(*n) - 1
	x := (*n)[last]
	*n = (*n)[:last]
	return x
}

func (s *searcher) file(bound int64) {
	s.filed++
	rank := ceil(bound, s.o.Slack*s.unit)
	heap.Push(&s.open, &node{bound: bound, rank: rank, order: s.filed, steps: slices.Clone(s.trail)})
}

// search divides the node of the lowest bound until none is left or limit steps are taken, at least one.
func (s *searcher) search(limit int) {
	for len(s.open) > 0 && (s.nodes == 0 || s.w.steps <= limit) {
		n := heap.Pop(&s.open).(*node)
		if n.bound > s.enough() {
			s.leave(n.bound)
			continue
		}
		s.enter(n.steps)
		s.expand(n.bound)
	}
}

func (s *searcher) enter(steps []step) {
	same := 0
	for same < min(len(steps), len(s.trail)) && steps[same] == s.trail[same] {
		same++
	}
	s.undo(same)
	for _, st := range steps[same:] {
		if st.paid {
			s.include(st.index)
		} else {
			s.w.drop(st.index)
			s.trail = append(s.trail, st)
		}
	}
}
