package sim

import (
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
	heap  []entry
	count int
	kept  int // entries when the void ones were last removed
}

func (a *agenda) push(e entry) {
	if len(a.heap) >= 2*a.kept+64 {
		a.sweep()
	}
	a.count++
	e.order = a.count
	a.heap = append(a.heap, e)
	a.up(len(a.heap) - 1)
}

// sweep removes all void entries.
func (a *agenda) sweep() {
	a.heap = slices.DeleteFunc(a.heap, entry.void)
	for i := len(a.heap)/2 - 1; i >= 0; i-- {
		a.down(i)
	}
	a.kept = len(a.heap)
}

// pop removes the first entry.
func (a *agenda) pop() entry {
	first, last := a.heap[0], len(a.heap)-1
	a.heap[0], a.heap[last] = a.heap[last], entry{}
	a.heap = a.heap[:last]
	a.down(0)
	return first
}

// peek returns the time of the next entry that is not void. It removes void entries before it.
func (a *agenda) peek() (time.Time, bool) {
	for len(a.heap) > 0 {
		e := &a.heap[0]
		if !e.void() {
			return e.at, true
		}
		a.pop()
	}
	return time.Time{}, false
}

// before reports whether e happens before f: by time, then order.
func (e *entry) before(f *entry) bool {
	if c := e.at.Compare(f.at); c != 0 {
		return c < 0
	}
	return e.order < f.order
}

// up moves the entry at i up the heap to its place: no entry is before its parent, at (i-1)/2.
func (a *agenda) up(i int) {
	h, e := a.heap, a.heap[i]
	for i > 0 && e.before(&h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = e
}

// down moves the entry at i down the heap to its place.
func (a *agenda) down(i int) {
	h := a.heap
	if i >= len(h) {
		return
	}
	e := h[i]
	for child := 2*i + 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&e) {
			break
		}
		h[i], i = h[child], child
	}
	h[i] = e
}
