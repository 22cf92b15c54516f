package minkunion

import (
	"container/heap"
	"slices"
)

// A node is a part of the answers that is still to be searched: those that its steps lead to.
type node struct {
	bound int64 // no answer of it has a lower L, in 1/unit
	rank  int64 // the bound in units of Slack, rounded up: less than that is not looked for
	order int   // it was the how many-th
	steps []step
}

// nodes are a heap: the lowest rank first, of equal ones the last that was filed, so that the search gets to answers.
type nodes []*node

// Len implements heap.Interface.
func (n nodes) Len() int { return len(n) }

// Swap implements heap.Interface.
func (n nodes) Swap(i, j int) { n[i], n[j] = n[j], n[i] }

// Push implements heap.Interface.
func (n *nodes) Push(x any) { *n = append(*n, x.(*node)) }

// Less reports whether node i is searched before node j.
func (n nodes) Less(i, j int) bool {
	if n[i].rank != n[j].rank {
		return n[i].rank < n[j].rank
	}
	return n[i].order > n[j].order
}

// Pop implements heap.Interface.
func (n *nodes) Pop() any {
	last := len(*n) - 1
	x := (*n)[last]
	*n = (*n)[:last]
	return x
}

// file notes the node that the search is at as one that is still to be searched.
func (s *searcher) file(bound int64) {
	s.filed++
	rank := ceil(bound, s.o.Slack*s.unit)
	heap.Push(&s.open, &node{bound: bound, rank: rank, order: s.filed, steps: slices.Clone(s.trail)})
}

// search divides the node of the lowest bound, until none is left or limit steps are taken. The first is
// always looked at, so that there is a bound.
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

// enter goes to the node that these steps lead to, from where both paths part.
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
