package convex

import (
	"math"
	"slices"
)

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
