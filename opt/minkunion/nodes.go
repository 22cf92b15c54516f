package minkunion

import (
	"container/heap"
	"slices"
)

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
