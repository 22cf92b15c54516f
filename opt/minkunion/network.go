package minkunion

// A network carries flow from sets to their elements, without barred sets and paid elements.
type network struct {
	start   []int32 // first edge of each set; one more
	element []int32
	set     []int32
	flow    []int64
	into    [][]int32

	supply, excess []int64 // of sets: to send, not sent
	room           []int64
	barred         []bool
	paid           []bool

	far, reach []int32 // distance from a set with excess; -1: unreachable
	at, from   []int32
	queue      []int32
	steps      int
}

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
	w.supply, w.excess, w.barred = make([]int64, n), make([]int64, n), make([]bool, n)
	w.room, w.paid = make([]int64, m), make([]bool, m)
	w.far, w.at, w.reach, w.from = make([]int32, n), make([]int32, n), make([]int32, m), make([]int32, m)
	for e, c := range p.Elements {
		w.room[e] = c * unit
	}
	return w
}

func (w *network) offer(s int, supply int64) {
	w.excess[s] += supply - w.supply[s]
	w.supply[s] = supply
	for i := w.start[s]; w.excess[s] < 0; i++ {
		w.cancel(i, min(w.flow[i], -w.excess[s]))
	}
}

func (w *network) cancel(i int32, amount int64) {
	w.flow[i] -= amount
	w.excess[w.set[i]] += amount
	w.room[w.element[i]] += amount
}

func (w *network) drop(s int) {
	w.offer(s, 0)
	w.barred[s] = true
}

func (w *network) pay(e int) {
	for _, i := range w.into[e] {
		w.cancel(i, w.flow[i])
	}
	w.paid[e] = true
}

// saturate computes a maximum flow. Then far >= 0 marks the smallest closure of the greatest gain, and reach >= 0
// its union.
func (w *network) saturate() {
	for w.levels() {
		for s := range w.at {
			w.at[s] = w.start[s]
		}
		clear(w.from)
		for s := range w.excess {
			for !w.barred[s] && w.excess[s] > 0 {
				sent := w.send(int32(s), w.excess[s])
				if sent == 0 {
					break
				}
				w.excess[s] -= sent
			}
		}
	}
}

func (w *network) levels() bool {
	w.queue = w.queue[:0]
	for s := range w.far {
		w.far[s] = -1
		if !w.barred[s] && w.excess[s] > 0 {
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

// look visits set s's elements and sets that can redirect their flow, and reports whether one has room.
func (w *network) look(s int32) bool {
	open := false
	for i := w.start[s]; i < w.start[s+1]; i++ {
		w.steps++
		e := w.element[i]
		if w.paid[e] || w.reach[e] >= 0 {
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

func (w *network) send(s int32, amount int64) int64 {
	for ; w.at[s] < w.start[s+1]; w.at[s]++ {
		w.steps++
		i := w.at[s]
		e := w.element[i]
		if w.paid[e] || w.reach[e] != w.far[s]+1 {
			continue
		}
		if sent := w.take(e, amount); sent > 0 {
			w.flow[i] += sent
			return sent
		}
	}
	return 0
}

// take puts up to amount into element e, or redirects another set's flow.
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
