package market

import "math"

type entry struct {
	row   int
	value float64
}

// A program is Eisenberg and Gale's: maximise Σᵢ weightᵢ log wᵢ subject to E y + w = c and y, w ≥ 0. A buyer's w
// is its utility; a good's, without weight, is unsold. z is a row's price.
type program struct {
	cols   [][]entry
	side   []float64 // c, by row
	weight []float64 // the sum is 1
}

// newProgram has buyers' rows, then goods' rows.
func newProgram(budgets []float64, supply []float64) *program {
	n := len(budgets) + len(supply)
	p := &program{side: make([]float64, n), weight: make([]float64, n)}
	copy(p.side[len(budgets):], supply)
	total := sum(budgets)
	for i, b := range budgets {
		p.weight[i] = b / total
	}
	return p
}

// An iterate is a point with duals. At the optimum w z = weight, y s = 0 and s = E'z.
type iterate struct {
	y, s []float64 // by column
	w, z []float64 // by row
}

func newIterate(cols, rows int) *iterate {
	return &iterate{
		y: make([]float64, cols), s: make([]float64, cols),
		w: make([]float64, rows), z: make([]float64, rows),
	}
}

// start is near the centre of mu: equal, small levels, and columns that cost at least twice their earnings.
func (p *program) start(mu float64) *iterate {
	t := newIterate(len(p.cols), len(p.side))
	level := 1 / float64(1+p.longestRow())
	for k := range t.y {
		t.y[k] = level
	}
	copy(t.w, p.activity(t.y))
	for i := range t.w {
		if t.w[i] = p.side[i] - t.w[i]; p.weight[i] == 0 {
			t.w[i] = math.Max(t.w[i], level)
		}
		t.z[i] = p.target(i, mu) / t.w[i]
	}
	p.raise(t.z)
	for k, col := range p.cols {
		t.s[k] = math.Max(price(col, t.z), 0.1*mu/level)
	}
	return t
}

func (p *program) raise(z []float64) {
	factor := 1.0
	for _, col := range p.cols {
		if cost, earned := p.parts(col, z); cost > 0 {
			factor = math.Max(factor, 2*earned/cost)
		}
	}
	for i := range z {
		if p.weight[i] == 0 {
			z[i] *= factor
		}
	}
}

// target returns w z of row i: its weight, or mu if larger.
func (p *program) target(i int, mu float64) float64 {
	return math.Max(p.weight[i], mu)
}

func (p *program) longestRow() int {
	count, most := make([]int, len(p.side)), 0
	for _, col := range p.cols {
		for _, e := range col {
			count[e.row]++
			most = max(most, count[e.row])
		}
	}
	return most
}

// activity returns E y.
func (p *program) activity(y []float64) []float64 {
	a := make([]float64, len(p.side))
	for k, col := range p.cols {
		for _, e := range col {
			a[e.row] += e.value * y[k]
		}
	}
	return a
}

// slack returns c − E y − w.
func (p *program) slack(t *iterate) []float64 {
	left := p.activity(t.y)
	for i, a := range left {
		left[i] = p.side[i] - a - t.w[i]
	}
	return left
}

// price returns an element of E'z.
func price(col []entry, z []float64) float64 {
	total := 0.0
	for _, e := range col {
		total += e.value * z[e.row]
	}
	return total
}

func (p *program) parts(col []entry, z []float64) (cost, earned float64) {
	for _, e := range col {
		if p.weight[e.row] > 0 {
			earned -= e.value * z[e.row]
		} else {
			cost += math.Max(0, e.value) * z[e.row]
		}
	}
	return cost, earned
}

// patience is steps without progress before the end.
const patience = 10

// solve follows the central path to a small proven gap. It returns the best iterate and the steps. Source: Ye, "A
// path to the Arrow-Debreu competitive market equilibrium", Mathematical Programming 111, 2008: the equilibrium is
// the weighted centre of a polytope; steps as in Mehrotra's method.
func (p *program) solve(s Settings, gap func(*iterate) float64) (best *iterate, steps int) {
	t := p.start(0.1)
	n, least, at := newNewton(p), gap(t), 0
	best = t.plus(t, 0)
	for steps < s.Iterations && !(least <= s.Gap) && steps < at+patience && n.step(t) {
		steps++
		if g := gap(t); !(g >= least) {
			best, least, at = t.plus(t, 0), g, steps
		}
	}
	return best, steps
}

func sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}
