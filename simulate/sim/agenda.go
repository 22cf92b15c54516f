package sim

import (
	"slices"
	"time"
)

type entry struct {
	at    time.Time
	order int
	agent *agent
	turn  int // of the agent at insertion; the entry is void if the agent's turn differs
	what  func(*World)
}

func (e entry) void() bool { return e.what == nil && e.turn != e.agent.turn }

func (e entry) happen(w *World) {
	switch {
	case e.what != nil:
		e.what(w)
	case !e.void():
		e.agent.act(w)
	}
}

type agenda struct {
	heap  []entry
	count int
	valid int // entries after the last sweep
}

func (a *agenda) push(e entry) {
	if len(a.heap) >= 2*a.valid+64 {
		a.sweep()
	}
	a.count++
	e.order = a.count
	a.heap = append(a.heap, e)
	a.up(len(a.heap) - 1)
}

func (a *agenda) sweep() {
	a.heap = slices.DeleteFunc(a.heap, entry.void)
	for i := len(a.heap)/2 - 1; i >= 0; i-- {
		a.down(i)
	}
	a.valid = len(a.heap)
}

func (a *agenda) pop() entry {
	first, last := a.heap[0], len(a.heap)-1
	a.heap[0], a.heap[last] = a.heap[last], entry{}
	a.heap = a.heap[:last]
	a.down(0)
	return first
}

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

func (e *entry) before(f *entry) bool {
	if c := e.at.Compare(f.at); c != 0 {
		return c < 0
	}
	return e.order < f.order
}

func (a *agenda) up(i int) {
	h, e := a.heap, a.heap[i]
	for i > 0 && e.before(&h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = e
}

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
