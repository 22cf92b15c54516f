package sim

import (
	"container/heap"
	"slices"
	"time"
)

// entry is something that will happen at a time: the function what is called or, if that is
// nil, an agent takes its turn.
type entry struct {
	at    time.Time
	order int // how many entries were pushed before; breaks ties
	agent *agent
	turn  int // the agent's when the entry was pushed; void if the agent's is another now
	what  func(*World)
}

// void reports whether the agent does something else by now.
func (e entry) void() bool { return e.what == nil && e.turn != e.agent.turn }

func (e entry) happen(w *World) {
	switch {
	case e.what != nil:
		e.what(w)
	case !e.void():
		e.agent.act(w)
	}
}

// agenda is a priority queue of entries, sorted by time, then order. Void entries stay in it
// until they are first, or there are as many entries as twice those that were not void.
type agenda struct {
	heap  entries
	count int
	kept  int // entries when the void ones were last removed
}

func (a *agenda) push(e entry) {
	if len(a.heap) >= 2*a.kept+64 {
		a.heap = slices.DeleteFunc(a.heap, entry.void)
		heap.Init(&a.heap)
		a.kept = len(a.heap)
	}
	a.count++
	e.order = a.count
	heap.Push(&a.heap, e)
}

func (a *agenda) pop() entry { return heap.Pop(&a.heap).(entry) }

// peek returns the time of the next entry that is not void. It removes void entries before it.
func (a *agenda) peek() (time.Time, bool) {
	for len(a.heap) > 0 {
		e := &a.heap[0]
		if !e.void() {
			return e.at, true
		}
		heap.Pop(&a.heap)
	}
	return time.Time{}, false
}

type entries []entry

// Len implements heap.Interface.
func (h entries) Len() int { return len(h) }

// Swap implements heap.Interface.
func (h entries) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Less implements heap.Interface: by time, then order.
func (h entries) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].order < h[j].order
}

// Push implements heap.Interface.
func (h *entries) Push(e any) { *h = append(*h, e.(entry)) }

// Pop implements heap.Interface.
func (h *entries) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}
