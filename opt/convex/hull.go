package convex

import (
	"math"
	"slices"
)

type corner struct {
	rate, speed float64
	point       int32
}

// A vertex is a hull's corner per unit of work, from cheap to fast, ever less steep.
type vertex struct {
	cost, time float64
	point      int32
}

// A hull is the least monotone concave function above the points and 0, from the cheapest to the fastest corner.
// Source: BOA §3.2 and App. E.3.
type hull struct {
	corners  []corner
	merged   []corner
	repaired bool // a speed is below the hull of its kind
}

// add appends a corner unless it is no faster than the last, and removes corners on or below the new hull.
func (h *hull) add(c corner) {
	n := len(h.corners)
	if n > 0 && c.speed <= h.corners[n-1].speed {
		h.repaired = h.repaired || c.speed < h.corners[n-1].speed
		return
	}
	for ; n > 0; n-- {
		var before corner
		if n > 1 {
			before = h.corners[n-2]
		}
		last := h.corners[n-1]
		here, there := (last.speed-before.speed)*(c.rate-last.rate), (c.speed-last.speed)*(last.rate-before.rate)
		if here > there {
			break
		}
		h.repaired = h.repaired || here < there*(1-slack)
	}
	h.corners = append(h.corners[:n], c)
}

// of computes the hull of an epoch, in linear time. Source: BOA App. B.
func (h *hull) of(p *Problem, points []Point) {
	h.corners, h.merged, h.repaired = h.corners[:0], h.merged[:0], false
	for n, at := range points {
		if n > 0 && at.Kind != points[n-1].Kind {
			h.merged = append(h.merged, h.corners...)
			h.corners = h.corners[:0]
		}
		h.add(corner{p.rate(at), at.Speed, int32(n)})
	}
	if len(h.merged) > 0 {
		h.merge()
	}
}

// merge makes the hull of all kinds. It does not count as a repair.
func (h *hull) merge() {
	repaired := h.repaired
	h.merged = append(h.merged, h.corners...)
	slices.SortFunc(h.merged, cheaper)
	h.corners = h.corners[:0]
	for _, c := range h.merged {
		h.add(c)
	}
	h.repaired = repaired
}

// cheaper sorts corners by rate, then by point, without the NaN checks of cmp.Compare.
func cheaper(a, b corner) int {
	switch {
	case a.rate < b.rate:
		return -1
	case a.rate > b.rate:
		return 1
	default:
		return int(a.point - b.point)
	}
}

// vertices appends the hull per unit of work, without corners that differ by rounding.
func (h *hull) vertices(out []vertex) []vertex {
	first := len(out)
	for _, c := range h.corners {
		v := vertex{cost: c.rate / c.speed, time: 1 / c.speed, point: c.point}
		n := len(out)
		for n > first && v.cost <= out[n-1].cost*(1+slack) {
			n--
		}
		if n == first || v.time < out[n-1].time*(1-slack) {
			out = append(out[:n], v)
		}
	}
	return out
}

type lattice struct {
	class  *Class
	states []Point     // kind and width; speed is not used
	rates  []float64   // cost per unit of time, by state
	times  [][]float64 // infinite if missing
	at     [][]int32   // index of the point
	gain   float64     // mean completion time per unit of time of an arrival

	price, move, value []float64
	best               []int32
	moved              [][]bool
}

func (p *Problem) lattices() []lattice {
	all := make([]lattice, len(p.Classes))
	for i, gain := range p.gains() {
		all[i] = lattice{class: &p.Classes[i], gain: gain}
		all[i].fill(p)
	}
	return all
}

func (l *lattice) fill(p *Problem) {
	l.unite()
	n, epochs := len(l.states), len(l.class.Epochs)
	for _, s := range l.states {
		l.rates = append(l.rates, p.rate(s))
	}
	l.price, l.move, l.value = make([]float64, n), make([]float64, n), make([]float64, n)
	l.best, l.moved = make([]int32, epochs), make([][]bool, epochs)
	l.times, l.at = make([][]float64, epochs), make([][]int32, epochs)
	for j := range l.class.Epochs {
		e := &l.class.Epochs[j]
		l.times[j], l.at[j], l.moved[j] = make([]float64, n), make([]int32, n), make([]bool, n)
		next := 0
		for k, s := range l.states {
			l.times[j][k] = math.Inf(1)
			if next < len(e.Points) && compare(e.Points[next], s) == 0 {
				l.times[j][k], l.at[j][k] = e.Size/e.Points[next].Speed, int32(next)
				next++
			}
		}
	}
}

func (l *lattice) unite() {
	equal := func(a, b Point) bool { return compare(a, b) == 0 }
	l.states = slices.Clone(l.class.Epochs[0].Points)
	for j := range l.class.Epochs {
		points := l.class.Epochs[j].Points
		if !slices.EqualFunc(l.states, points, equal) {
			l.states = append(l.states, points...)
			slices.SortFunc(l.states, compare)
			l.states = slices.CompactFunc(l.states, equal)
		}
	}
}

// path computes the cheapest states, at prices of time (above 0) and money (at least 0), by a shortest path.
func (l *lattice) path(time, money float64, out []int32) {
	for k, rate := range l.rates {
		l.price[k] = time*l.gain + money*rate
		l.move[k] = l.class.Rescale * l.price[k]
		l.value[k] = math.Inf(1)
	}
	least := 0.0
	for j, times := range l.times {
		l.best[j] = l.step(times, l.moved[j], least)
		least = l.value[l.best[j]]
	}
	k := l.best[len(out)-1]
	for j := len(out) - 1; j >= 0; j-- {
		out[j] = k
		if l.moved[j][k] && j > 0 {
			k = l.best[j-1]
		}
	}
}

// step updates the cost so far in each state, and returns the cheapest state. A move comes from the cheapest
// state, because its price depends on the new state only.
func (l *lattice) step(times []float64, moved []bool, least float64) int32 {
	n := len(times)
	price, move, value := l.price[:n], l.move[:n], l.value[:n]
	moved = moved[:n]
	best, at := math.Inf(1), int32(0)
	for k, t := range times {
		stay, come := value[k], least+move[k]
		moved[k] = come < stay
		v := min(stay, come) + t*price[k]
		value[k] = v
		if v < best {
			best, at = v, int32(k)
		}
	}
	return at
}

func (l *lattice) cost(path []int32) (time, spend float64) {
	for j, k := range path {
		t := l.times[j][k]
		if j == 0 || path[j-1] != k {
			t += l.class.Rescale
		}
		time += t
		spend += t * l.rates[k]
	}
	return time, spend
}
