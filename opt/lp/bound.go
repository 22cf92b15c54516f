package lp

import "math"

// Bound returns a lower bound on the objective of every feasible x, from row multipliers y (length RowSlots) by weak
// duality. It is the better of the bounds with y and with Tighten(p, y), or -Inf if neither exists. An infinite column
// bound is replaced by a bound that the rows imply. If the rows imply none, a reduced cost below 1e-9 of its terms
// counts as 0.
func Bound(p *Problem, y []float64) float64 {
	implied := p.impliedBounds()
	b := p.lagrangian(y, implied)
	return max(b, p.lagrangian(tighten(p, y), implied))
}

// tighten corrects row multipliers y that are slightly inaccurate, and returns multipliers that prove a better bound. A
// small negative reduced cost lowers the bound for every unit of its column. If only packing rows (without negative
// coefficients) limit the column, Tighten adds the cost to the multiplier of the cheapest such row. All columns of this
// row then lower the bound together only as much as the worst of them.
func tighten(p *Problem, y []float64) []float64 {
	better := make([]float64, len(y))
	for i, v := range y {
		better[i] = p.effective(i, v)
	}
	packing := p.packingRows()
	more := make([]float64, len(y))
	for j, d := range reducedCosts(p, better) {
		if d >= 0 {
			continue
		}
		rows, values := p.Entries(j)
		best, least := -1, Inf
		if p.up[j] < Inf {
			least = p.up[j] // of the column's own bound, per unit of d
		}
		for k, r := range rows {
			if packing[r] && p.side[r].up/values[k] < least {
				best, least = k, p.side[r].up/values[k]
			}
		}
		if best >= 0 {
			more[rows[best]] = max(more[rows[best]], -d/values[best])
		}
	}
	for i := range better {
		better[i] -= more[i]
	}
	return better
}

func (p *Problem) packingRows() []bool {
	is := make([]bool, p.RowSlots())
	for i := range is {
		is[i] = p.HasRow(i) && p.side[i].up < Inf && p.side[i].up >= 0
	}
	for j := range p.cost {
		rows, values := p.Entries(j)
		for k, r := range rows {
			if values[k] < 0 || p.low[j] < 0 {
				is[r] = false
			}
		}
	}
	return is
}

func (p *Problem) effective(i int, v float64) float64 {
	if !p.HasRow(i) || v > 0 && p.side[i].low == -Inf || v < 0 && p.side[i].up == Inf {
		return 0
	}
	return v
}

type ranges struct{ low, up []float64 }

func (p *Problem) lagrangian(y []float64, implied ranges) float64 {
	total := p.Offset
	clean := make([]float64, len(y))
	for i, v := range y {
		v = p.effective(i, v)
		clean[i] = v
		switch {
		case v > 0:
			total += v * p.side[i].low
		case v < 0:
			total += v * p.side[i].up
		}
	}
	for j, d := range reducedCosts(p, clean) {
		switch {
		case !p.HasCol(j):
		case d > 0 && (implied.low[j] > -Inf || p.significant(j, d, clean)):
			total += d * implied.low[j]
		case d < 0 && (implied.up[j] < Inf || p.significant(j, d, clean)):
			total += d * implied.up[j]
		}
	}
	if math.IsNaN(total) {
		return -Inf
	}
	return total
}

const rounding = 1e-9

func (p *Problem) significant(j int, d float64, y []float64) bool {
	size := math.Abs(p.cost[j])
	rows, values := p.Entries(j)
	for k, r := range rows {
		size += math.Abs(values[k] * y[r])
	}
	return math.Abs(d) > rounding*size
}

func (p *Problem) impliedBounds() ranges {
	least, most := p.activityRanges()
	b := ranges{append([]float64(nil), p.low...), append([]float64(nil), p.up...)}
	for j := range p.cost {
		if !p.HasCol(j) || p.low[j] > -Inf && p.up[j] < Inf {
			continue
		}
		rows, values := p.Entries(j)
		for k, r := range rows {
			low, up := p.implied(j, int(r), values[k], least[r], most[r])
			if p.low[j] == -Inf {
				b.low[j] = max(b.low[j], low)
			}
			if p.up[j] == Inf {
				b.up[j] = min(b.up[j], up)
			}
		}
	}
	return b
}

// A span is an end of a row's activity: a finite part and the number of infinite columns.
type span struct {
	finite   float64
	infinite int
}

func (s *span) add(x float64) {
	if math.IsInf(x, 0) {
		s.infinite++
	} else {
		s.finite += x
	}
}

func (s span) without(x float64) (rest float64, ok bool) {
	if math.IsInf(x, 0) {
		return s.finite, s.infinite == 1
	}
	return s.finite - x, s.infinite == 0
}

func (p *Problem) activityRanges() (least, most []span) {
	least, most = make([]span, p.RowSlots()), make([]span, p.RowSlots())
	for j := range p.cost {
		rows, values := p.Entries(j)
		for k, r := range rows {
			low, up := p.part(j, values[k])
			least[r].add(low)
			most[r].add(up)
		}
	}
	return least, most
}

func (p *Problem) part(j int, a float64) (least, most float64) {
	if a < 0 {
		return a * p.up[j], a * p.low[j]
	}
	return a * p.low[j], a * p.up[j]
}

func (p *Problem) implied(j, i int, a float64, least, most span) (low, up float64) {
	low, up = -Inf, Inf
	partLow, partUp := p.part(j, a)
	if rest, ok := least.without(partLow); ok && p.side[i].up < Inf {
		low, up = half(a, p.side[i].up-rest, low, up, a > 0)
	}
	if rest, ok := most.without(partUp); ok && p.side[i].low > -Inf {
		low, up = half(a, p.side[i].low-rest, low, up, a < 0)
	}
	return low, up
}

func half(a, b, low, up float64, upper bool) (newLow, newUp float64) {
	if upper {
		return low, min(up, b/a)
	}
	return max(low, b/a), up
}

// CheckInfeasible reports whether ray is a Farkas certificate that the problem has no feasible point: whether the
// minimum of ray'(s - Ax), over row sums s and columns x within their bounds, is above 0 by a relative 1e-9.
func CheckInfeasible(p *Problem, ray []float64) bool {
	if len(ray) != p.RowSlots() {
		return false
	}
	total, size := 0.0, 0.0
	d := make([]float64, p.ColSlots())
	scale := make([]float64, p.ColSlots())
	for j := range d {
		rows, values := p.Entries(j)
		for k, r := range rows {
			d[j] -= values[k] * ray[r]
			scale[j] += math.Abs(values[k] * ray[r])
		}
	}
	add := func(v, low, up float64) {
		x := low
		if v < 0 {
			x = up
		}
		total += v * x
		size += math.Abs(v * x)
	}
	for i, v := range ray {
		if v != 0 {
			add(v, p.side[i].low, p.side[i].up)
		}
	}
	for j, v := range d {
		if math.Abs(v) > rounding*scale[j] {
			add(v, p.low[j], p.up[j])
		}
	}
	return total > rounding*(1+size) && !math.IsInf(size, 0)
}

// CheckUnbounded reports whether ray, indexed by column, is a direction in which the objective decreases for ever:
// c'ray < 0, and no bound of a row or column limits it (to 1e-9).
func CheckUnbounded(p *Problem, ray []float64) bool {
	if len(ray) != p.ColSlots() {
		return false
	}
	size := 0.0
	for _, v := range ray {
		size = max(size, math.Abs(v))
	}
	gain, scale := 0.0, 0.0
	for j, v := range ray {
		if v > rounding*size && p.up[j] < Inf || v < -rounding*size && p.low[j] > -Inf {
			return false
		}
		gain += p.cost[j] * v
		scale += math.Abs(p.cost[j] * v)
	}
	for i, a := range Activities(p, ray) {
		if a > rounding*size && p.side[i].up < Inf || a < -rounding*size && p.side[i].low > -Inf {
			return false
		}
	}
	return gain < -rounding*(1e-300+scale)
}

// Grade computes the objective, residuals, bound and gap of s from s.X and s.Y. If Y is nil, s.Bound stays unchanged.
func Grade(p *Problem, s *Solution) {
	s.Objective = Objective(p, s.X)
	s.PrimalResidual = PrimalResidual(p, s.X)
	if s.Y != nil {
		s.DualResidual = DualResidual(p, s.Y)
		s.Bound = Bound(p, s.Y)
	}
	s.Gap = math.Abs(s.Objective-s.Bound) / (1 + math.Abs(s.Objective))
}
