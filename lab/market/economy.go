package market

import (
	"math"
	"slices"
)

// An economy is a market's program. Goods are in units of their supply. A column's level 1 is all that a single
// buyer could earn.
type economy struct {
	m       *Market
	program *program
	row     [][]int   // by round and type; -1 without supply
	way     []way     // by column
	unit    []float64 // of utility
}

// A way is a column: a purchase in a round.
type way struct {
	buyer, round int
	good         int       // for Linear
	amounts      []float64 // Leontief: by type
	gain         float64   // per unit of the column
}

func (m *Market) economy() *economy {
	e := &economy{m: m, row: make([][]int, len(m.Supply)), unit: make([]float64, len(m.Buyers))}
	var supply []float64
	for t := range m.Supply {
		e.row[t] = make([]int, len(m.Supply[t]))
		for j, c := range m.Supply[t] {
			e.row[t][j] = -1
			if c > 0 {
				e.row[t][j] = len(m.Buyers) + len(supply)
				supply = append(supply, 1)
			}
		}
	}
	e.program = newProgram(m.budgets(), supply)
	for i := range m.Buyers {
		from := len(e.way)
		e.addBuyer(i)
		e.addColumns(i, e.way[from:])
	}
	return e
}

func (e *economy) addBuyer(i int) {
	b := &e.m.Buyers[i]
	for t, rates := range b.Rates {
		if b.Utility == Leontief {
			e.addBundle(i, t)
			continue
		}
		for j, u := range rates {
			if e.row[t][j] >= 0 && u > 0 {
				e.way = append(e.way, way{buyer: i, round: t, good: j, gain: u * e.m.Supply[t][j]})
			}
		}
	}
}

// addBundle needs a supply of everything.
func (e *economy) addBundle(i, t int) {
	rates, gain := e.m.Buyers[i].Rates[t], math.Inf(1)
	for j, a := range rates {
		if a > 0 {
			gain = math.Min(gain, e.m.Supply[t][j]/a)
		}
	}
	if rates == nil || gain == 0 {
		return
	}
	amounts := make([]float64, len(rates))
	for j, a := range rates {
		amounts[j] = a * gain
	}
	e.way = append(e.way, way{buyer: i, round: t, amounts: amounts, gain: gain})
}

// addColumns scales the best gain to 1.
func (e *economy) addColumns(i int, ways []way) {
	for _, w := range ways {
		e.unit[i] = math.Max(e.unit[i], w.gain)
	}
	for _, w := range ways {
		col := []entry{{row: i, value: -w.gain / e.unit[i]}}
		if w.amounts == nil {
			col = append(col, entry{row: e.row[w.round][w.good], value: 1})
		}
		for j, a := range w.amounts {
			if a > 0 {
				col = append(col, entry{row: e.row[w.round][j], value: a / e.m.Supply[w.round][j]})
			}
		}
		e.program.cols = append(e.program.cols, col)
	}
}

func (e *economy) solution(t *iterate) *Solution {
	out := &Solution{X: make([][][]float64, len(e.m.Buyers)), Utilities: make([]float64, len(e.m.Buyers))}
	for i := range out.X {
		out.X[i] = e.m.zeros()
	}
	for k, level := range e.fit(t) {
		w := e.way[k]
		x := out.X[w.buyer][w.round]
		if w.amounts == nil {
			x[w.good] = level * e.m.Supply[w.round][w.good]
		}
		for j, a := range w.amounts {
			x[j] = level * a
		}
	}
	for i := range out.X {
		out.Utilities[i] = e.m.Buyers[i].Of(out.X[i])
	}
	out.Welfare = welfare(e.m.budgets(), out.Utilities)
	e.prove(out, t.z)
	out.Gap = out.Bound - out.Welfare
	return out
}

// fit corrects levels for rounding, so that each good is sold up to its slack: bundles first, by their scarcest
// good.
func (e *economy) fit(t *iterate) []float64 {
	levels, sold := slices.Clone(t.y), e.program.activity(t.y)
	left, single := make([]float64, len(t.w)), make([]float64, len(t.w))
	for i := range left {
		left[i] = math.Max(0, 1-t.w[i])
	}
	ratio := divide(left, sold)
	for k, col := range e.program.cols {
		if e.way[k].amounts == nil {
			single[col[1].row] += levels[k]
			continue
		}
		factor := math.Inf(1)
		for _, g := range col[1:] {
			factor = math.Min(factor, ratio[g.row])
		}
		levels[k] *= factor
		for _, g := range col[1:] {
			left[g.row] -= g.value * levels[k]
		}
	}
	ratio = divide(left, single)
	for k, col := range e.program.cols {
		if e.way[k].amounts == nil {
			levels[k] *= math.Max(0, ratio[col[1].row])
		}
	}
	return levels
}

func divide(a, b []float64) []float64 {
	q := make([]float64, len(a))
	for i := range q {
		q[i] = a[i] / b[i]
	}
	return q
}

// prove sets prices, with all goods at all budgets, and the bound. No buyer can have more than its budget buys at
// its best price. By duality no allocation has more welfare than if all buyers had that.
func (e *economy) prove(out *Solution, z []float64) {
	budgets := e.m.budgets()
	total, n := sum(budgets), len(budgets)
	scale := total / sum(z[n:])
	out.Prices = e.m.zeros()
	for t := range e.row {
		for j, row := range e.row[t] {
			if row >= 0 {
				out.Prices[t][j] = scale * z[row] / e.m.Supply[t][j]
			}
		}
	}
	best := make([]float64, n)
	for k, w := range e.way {
		cost := scale * price(e.program.cols[k][1:], z)
		best[w.buyer] = math.Max(best[w.buyer], budgets[w.buyer]*w.gain/cost)
	}
	out.Bound = welfare(budgets, best)
}

func (m *Market) zeros() [][]float64 {
	z := make([][]float64, len(m.Supply))
	for t := range z {
		z[t] = make([]float64, len(m.Supply[t]))
	}
	return z
}
