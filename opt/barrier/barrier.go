package barrier

import "math"

// An Item is one item of a Program. Slices go by kind.
type Item struct {
	Size  []float64 // of the kind's capacity that the item takes while it is there; 0: it may not be there
	Rate  []float64 // of the item there, at least 0
	Gain  []float64 // objective of Best; nil: 0
	Least float64   // rate that the item needs, at least 0; 0: none
}

// A Program is a program of time fractions.
type Program struct {
	Items    []Item
	Capacity []float64 // of each kind, at least 0
}

// Settings are tolerances and limits. The zero value of a field stands for its
// default.
type Settings struct {
	Mu         float64 // product of every slack and its dual at the end, relative to the largest gain or the level; default 1e-9
	Iterations int     // default 200
}

func (s Settings) withDefaults() Settings {
	if s.Mu <= 0 {
		s.Mu = 1e-9
	}
	if s.Iterations <= 0 {
		s.Iterations = 200
	}
	return s
}

// A Solution is the answer to a Program.
type Solution struct {
	X          [][]float64 // by item and kind; 0 where the item may not be
	Level      float64     // of Level
	Objective  float64     // Level's level, or Best's gains
	Bound      float64     // no feasible x has more
	Prices     []float64   // of the kinds: what one more of its capacity would add to the objective
	Iterations int         // of the path to the answer
	Feasible   bool        // a point inside all rows was found to start from, and the path stays inside
	Converged  bool        // it is the point asked for; else the iterations ended first
}

// Level finds the greatest level z. Items without a least rate share the rest. It is
// feasible if some item has a least rate, and every such item has a positive rate
// somewhere; otherwise z is 0.
func (p *Program) Level(s Settings) Solution {
	s = s.withDefaults()
	most := p.leastLevel()
	if most == 0 {
		return p.nothing()
	}
	w := newPath(p, most)
	w.start()
	return w.run(s)
}

// Best finds the greatest sum of gains; without gains, the analytic centre. It is not
// feasible if no x gives every item more than its least rate, by a relative 1e-9: if only
// one x meets the rates exactly, there is no centre.
func (p *Program) Best(s Settings) Solution {
	s = s.withDefaults()
	w := newPath(p, 0)
	if !p.needs() {
		w.start()
		return w.run(s)
	}
	most := p.leastLevel()
	if most == 0 {
		return p.nothing()
	}
	first := newPath(p, most)
	first.start()
	var inside Solution
	for mu := 1e-3; inside.Level <= 1+1e-9; mu /= 100 { // as far from the rows as can be
		if mu < 1e-10 {
			return p.nothing()
		}
		inside = first.run(Settings{Mu: mu, Iterations: s.Iterations})
	}
	w.startAt(inside.X)
	return w.run(s)
}

// needs reports whether any item needs a rate.
func (p *Program) needs() bool {
	for i := range p.Items {
		if p.Items[i].Least > 0 {
			return true
		}
	}
	return false
}

// leastLevel returns an upper bound of the level that is not far off it: the
// least level of an item that is alone; 0 if none needs a rate, or one that does
// has none.
func (p *Program) leastLevel() float64 {
	least := math.Inf(1)
	for i := range p.Items {
		it := &p.Items[i]
		if it.Least <= 0 {
			continue
		}
		alone := 0.0
		for j, r := range it.Rate {
			if p.open(it, j) {
				alone = math.Max(alone, r)
			}
		}
		least = math.Min(least, alone/it.Least)
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// open reports whether an item may be on a kind.
func (p *Program) open(it *Item, kind int) bool { return it.Size[kind] > 0 && p.Capacity[kind] > 0 }

// nothing is the solution in which no item has any time.
func (p *Program) nothing() Solution {
	s := Solution{X: matrix(len(p.Items), len(p.Capacity)), Prices: make([]float64, len(p.Capacity))}
	s.Converged = true
	return s
}

// matrix returns rows of zeros.
func matrix(rows, cols int) [][]float64 {
	all := make([]float64, rows*cols)
	m := make([][]float64, rows)
	for i := range m {
		m[i] = all[i*cols : (i+1)*cols : (i+1)*cols]
	}
	return m
}
