package barrier

import "math"

// An Item is, for example, a job that runs for a fraction of the time on each kind of machine.
type Item struct {
	Size  []float64 // capacity that it uses on each kind while it runs there; 0: not allowed there
	Rate  []float64 // rate on each kind, at least 0
	Gain  []float64 // gain per unit of time on each kind, which Best maximises; nil: 0
	Least float64   // rate that it needs, at least 0
}

// A Program asks for the fraction of time that each item runs on each kind of machine.
type Program struct {
	Items    []Item
	Capacity []float64 // machines of each kind, at least 0
}

// Settings limit the accuracy and iterations of a solve; 0 means the default.
type Settings struct {
	Mu         float64 // relative product of slack and dual multiplier at which a solve ends; default 1e-9
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

// A Solution has the time fractions that solve a Program.
type Solution struct {
	X          [][]float64 // time fraction of each item on each kind
	Level      float64     // set by Program.Level
	Objective  float64     // the level, or the sum of gains
	Bound      float64     // upper bound on the objective
	Prices     []float64   // increase of the objective per unit of capacity, by kind
	Iterations int
	Feasible   bool // whether a strictly feasible point was found
	Converged  bool // within the iterations
}

// Level finds the largest z such that the rate of every item is at least z times Item.Least. Capacity that remains goes
// to items with Least 0. The result is infeasible if no Least is positive, or if an item with a positive Least has rate
// 0 on all kinds.
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

// Best maximises the sum of gains; the rate of every item is at least Item.Least. The result is infeasible unless all
// items can exceed their Least at once, by a relative 1e-9.
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
	for mu := 1e-3; inside.Level <= 1+1e-9; mu /= 100 {
		if mu < 1e-10 {
			return p.nothing()
		}
		inside = first.run(Settings{Mu: mu, Iterations: s.Iterations})
	}
	w.startAt(inside.X)
	return w.run(s)
}

func (p *Program) needs() bool {
	for i := range p.Items {
		if p.Items[i].Least > 0 {
			return true
		}
	}
	return false
}

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

func (p *Program) open(it *Item, kind int) bool { return it.Size[kind] > 0 && p.Capacity[kind] > 0 }

func (p *Program) nothing() Solution {
	s := Solution{X: matrix(len(p.Items), len(p.Capacity)), Prices: make([]float64, len(p.Capacity))}
	s.Converged = true
	return s
}

func matrix(rows, cols int) [][]float64 {
	all := make([]float64, rows*cols)
	m := make([][]float64, rows)
	for i := range m {
		m[i] = all[i*cols : (i+1)*cols : (i+1)*cols]
	}
	return m
}
