package lp

import "math"

// Activities returns the sum A x of each row, by row index.
func Activities(p *Problem, x []float64) []float64 {
	a := make([]float64, p.RowSlots())
	for j, v := range x {
		if v == 0 {
			continue
		}
		rows, values := p.Entries(j)
		for k, r := range rows {
			a[r] += values[k] * v
		}
	}
	return a
}

// Objective returns the value of the objective at x.
func Objective(p *Problem, x []float64) float64 {
	total := p.Offset
	for j, c := range p.cost {
		total += c * x[j]
	}
	return total
}

// reducedCosts returns the reduced cost c - A'y of each column, by column index; 0 at unused indices.
func reducedCosts(p *Problem, y []float64) []float64 {
	d := make([]float64, p.ColSlots())
	for j, c := range p.cost {
		rows, values := p.Entries(j)
		for k, r := range rows {
			c -= values[k] * y[r]
		}
		d[j] = c
	}
	return d
}

// PrimalResidual returns the largest relative amount by which x violates a row or bound.
func PrimalResidual(p *Problem, x []float64) float64 {
	worst := 0.0
	over := func(x, low, up float64) {
		worst = max(worst, (low-x)/(1+math.Abs(low)), (x-up)/(1+math.Abs(up)))
	}
	for i, a := range Activities(p, x) {
		if p.HasRow(i) {
			over(a, finiteOr(p.side[i].low, -math.MaxFloat64), finiteOr(p.side[i].up, math.MaxFloat64))
		}
	}
	for j := range x {
		if p.HasCol(j) {
			over(x[j], finiteOr(p.low[j], -math.MaxFloat64), finiteOr(p.up[j], math.MaxFloat64))
		}
	}
	return worst
}

func finiteOr(x, otherwise float64) float64 {
	if math.IsInf(x, 0) {
		return otherwise
	}
	return x
}

// DualResidual returns the largest relative violation of dual feasibility by y: a reduced cost or multiplier whose sign
// requires a finite limit of its column or row, although the limit is infinite.
func DualResidual(p *Problem, y []float64) float64 {
	worst := 0.0
	for j, d := range reducedCosts(p, y) {
		if p.HasCol(j) && !(d >= 0 && p.low[j] > -Inf) && !(d <= 0 && p.up[j] < Inf) {
			worst = max(worst, math.Abs(d)/(1+math.Abs(p.cost[j])))
		}
	}
	for i, v := range y {
		if v > 0 && p.side[i].low == -Inf || v < 0 && p.side[i].up == Inf {
			worst = max(worst, math.Abs(v))
		}
	}
	return worst
}
