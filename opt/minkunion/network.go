package minkunion

// A network carries what sets send off through their elements. A set may send supply, an
// element takes room more; between them a set's elements are unbounded edges. Sets that are
// out and elements that are gone carry nothing.
type network struct {
	start   []int32 // of each set: its first edge; one more at the end
	element []int32 // of each edge
	set     []int32 // of each edge
	flow    []int64 // of each edge
	into    [][]int32

	supply, excess []int64 // of each set: what it may send, what it has not sent
	room           []int64 // of each element
	out            []bool  // sets that may not be picked
	gone           []bool  // elements that are paid for

	far, reach []int32 // distance of sets and elements from a set with excess; -1: cut off
	at, from   []int32 // next edge to try, of sets and elements
	queue      []int32
	steps      int
}

// newNetwork has the edges of p, the room of its elements in units of 1/unit, and no flow.
func newNetwork(p *Problem, unit int64) *network {
	n, m := len(p.Sets), len(p.Elements)
	w := &network{into: make([][]int32, m), start: make([]int32, 1, n+1)}
	for s, set := range p.Sets {
		for _, e := range set.Elements {
			w.into[e] = append(w.into[e], int32(len(w.element)))
			w.element, w.set = append(w.element, int32(e)), append(w.set, int32(s))
		}
		w.start = append(w.start, int32(len(w.element)))
	}
	w.flow = make([]int64, len(w.element))
	w.supply, w.excess, w.out = make([]int64, n), make([]int64, n), make([]bool, n)
	w.room, w.gone = make([]int64, m), make([]bool, m)
	w.far, w.at, w.reach, w.from = make([]int32, n), make([]int32, n), make([]int32, m), make([]int32, m)
	for e, c := range p.Elements {
		w.room[e] = c * unit
	}
	return w
}

// offer sets what set s may send, and takes flow back that is more than that.
func (w *network) offer(s int, supply int64) {
	w.excess[s] += supply - w.supply[s]
	w.supply[s] = supply
	for i := w.start[s]; w.excess[s] < 0; i++ {
		w.cancel(i, min(w.flow[i], -w.excess[s]))
	}
}

// cancel takes an amount of flow back from edge i.
func (w *network) cancel(i int32, amount int64) {
	w.flow[i] -= amount
	w.excess[w.set[i]] += amount
	w.room[w.element[i]] += amount
}

// drop bars set s: it sends nothing.
func (w *network) drop(s int) {
	w.offer(s, 0)
	w.out[s] = true
}

// pay removes element e: nothing flows through it.
func (w *network) pay(e int) {
	for _, i := range w.into[e] {
		w.cancel(i, w.flow[i])
	}
	w.gone[e] = true
}

// saturate sends off what can be: a maximum flow. Then the sets with far >= 0 are the
// smallest closure that gains most, and the elements with reach >= 0 its union.
func (w *network) saturate() {
	for w.levels() {
		for s := range w.at {
			w.at[s] = w.start[s]
		}
		clear(w.from)
		for s := range w.excess {
			for !w.out[s] && w.excess[s] > 0 {
				sent := w.send(int32(s), w.excess[s])
				if sent == 0 {
					break
				}
				w.excess[s] -= sent
			}
		}
	}
}

// levels measures distances from the sets with excess, and reports whether an element with
// room is within reach.
func (w *network) levels() bool {
	w.queue = w.queue[:0]
	for s := range w.far {
		w.far[s] = -1
		if !w.out[s] && w.excess[s] > 0 {
			w.far[s], w.queue = 0, append(w.queue, int32(s))
		}
	}
	for e := range w.reach {
		w.reach[e] = -1
	}
	open := false
	head := 0
	for head < len(w.queue) {
		open = w.look(w.queue[head]) || open
		head++
	}
	return open
}

// look goes on from set s through its elements to sets whose flow could give way, and
// reports whether an element of it has room.
func (w *network) look(s int32) bool {
	open := false
	for i := w.start[s]; i < w.start[s+1]; i++ {
		w.steps++
		e := w.element[i]
		if w.gone[e] || w.reach[e] >= 0 {
			continue
		}
		w.reach[e] = w.far[s] + 1
		open = open || w.room[e] > 0
		for _, back := range w.into[e] {
			w.steps++
			if t := w.set[back]; w.flow[back] > 0 && w.far[t] < 0 {
				w.far[t], w.queue = w.reach[e]+1, append(w.queue, t)
			}
		}
	}
	return open
}

// send sends up to amount from set s one level on, and returns what arrived.
func (w *network) send(s int32, amount int64) int64 {
	for ; w.at[s] < w.start[s+1]; w.at[s]++ {
		w.steps++
		i := w.at[s]
		e := w.element[i]
		if w.gone[e] || w.reach[e] != w.far[s]+1 {
			continue
		}
		if sent := w.take(e, amount); sent > 0 {
			w.flow[i] += sent
			return sent
		}
	}
	return 0
}

// take lets element e take up to amount: into its room, or by sending off elsewhere what
// another set sent it.
func (w *network) take(e int32, amount int64) int64 {
	if w.room[e] > 0 {
		amount = min(amount, w.room[e])
		w.room[e] -= amount
		return amount
	}
	for ; int(w.from[e]) < len(w.into[e]); w.from[e]++ {
		w.steps++
		i := w.into[e][w.from[e]]
		t := w.set[i]
		if w.flow[i] == 0 || w.far[t] != w.reach[e]+1 {
			continue
		}
		if sent := w.send(t, min(amount, w.flow[i])); sent > 0 {
			w.flow[i] -= sent
			return sent
		}
	}
	return 0
}
