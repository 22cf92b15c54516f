package lptest

import (
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

// mixed: n rows of all kinds and half as many columns again, with what makes the programs of netlib
// hard: coefficients over four orders of magnitude, rows without columns, rows twice,
// columns that are fixed, free, or in one row alone, and many optima. It is made around a
// point and multipliers that prove it optimal.
func mixed(m *maker, n int) {
	cols := n + n/2
	point, reduced, bounds := m.columns(cols)
	cost := append([]float64(nil), reduced...)
	entries := make([][]lp.RowEntry, cols)
	var last []int
	for i := range n {
		pick := m.few(1+m.IntN(8), cols)
		if twice := i%20 == 19; twice {
			pick = last
		}
		last = pick
		if i%25 == 24 {
			pick = nil
		}
		m.mixedRow(pick, point, cost, entries)
	}
	for j := range cols {
		m.col(cost[j], bounds[j][0], bounds[j][1], entries[j]...)
	}
}

// columns draws a point, and bounds and reduced costs of which it is optimal.
func (m *maker) columns(n int) (point, reduced []float64, bounds [][2]float64) {
	point, reduced, bounds = make([]float64, n), make([]float64, n), make([][2]float64, n)
	for j := range point {
		point[j] = math.Round(m.in(0, 20))
		switch m.IntN(8) {
		case 0:
			bounds[j] = [2]float64{-inf, inf}
		case 1:
			bounds[j] = [2]float64{point[j], point[j]}
			reduced[j] = m.in(-1, 1)
		case 2:
			bounds[j] = [2]float64{0, point[j]}
			reduced[j] = -m.in(0, 2)
		case 3:
			bounds[j] = [2]float64{0, point[j] + 5}
		default:
			point[j] = 0
			bounds[j] = [2]float64{0, inf}
			reduced[j] = m.in(0, 2)
		}
	}
	return point, reduced, bounds
}

// mixedRow adds a row through the point, with a multiplier that its sides allow.
func (m *maker) mixedRow(pick []int, point, cost []float64, entries [][]lp.RowEntry) {
	scale := math.Pow(10, m.in(-1, 1))
	values, activity := make([]float64, len(pick)), 0.0
	for k, j := range pick {
		values[k] = scale * math.Pow(10, m.in(-1, 1)) * float64(1-2*m.IntN(2))
		activity += values[k] * point[j]
	}
	low, up, y := activity, activity, m.in(-1, 1)/scale
	switch m.IntN(4) {
	case 0:
		up, y = inf, math.Abs(y)
	case 1:
		low, y = -inf, -math.Abs(y)
	case 2:
		low, up, y = activity-scale, activity+scale, 0
	}
	r := m.row(low, up)
	for k, j := range pick {
		entries[j] = append(entries[j], at(r, values[k]))
		cost[j] += y * values[k]
	}
}
