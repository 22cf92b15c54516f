package market

import "math"

// A skyline is a symmetric positive definite matrix, later its Cholesky factor, from the first nonzero of each row
// on. Buyers' rows come first, because they are sparse.
type skyline struct {
	first []int
	rows  [][]float64 // rows[i][j-first[i]]
}

func newSkyline(p *program) *skyline {
	m := &skyline{first: make([]int, len(p.side)), rows: make([][]float64, len(p.side))}
	for i := range m.first {
		m.first[i] = i
	}
	for _, col := range p.cols {
		least := len(p.side)
		for _, e := range col {
			least = min(least, e.row)
		}
		for _, e := range col {
			m.first[e.row] = min(m.first[e.row], least)
		}
	}
	for i := range m.rows {
		m.rows[i] = make([]float64, i-m.first[i]+1)
	}
	return m
}

func (m *skyline) clear() {
	for _, row := range m.rows {
		clear(row)
	}
}

func (m *skyline) add(i, j int, value float64) { m.rows[i][j-m.first[i]] += value }

// factor makes a pivot lost to rounding infinite, so that its unknown is 0. It returns false for numbers that are
// not finite.
func (m *skyline) factor() bool {
	for i, row := range m.rows {
		at := m.first[i]
		whole := row[i-at]
		for j := at; j < i; j++ {
			row[j-at] = (row[j-at] - m.dot(i, j)) / m.rows[j][j-m.first[j]]
		}
		pivot := whole - m.dot(i, i)
		if math.IsNaN(pivot) || math.IsInf(pivot, 0) {
			return false
		}
		if pivot <= 1e-15*whole {
			pivot = math.Inf(1)
		}
		row[i-at] = math.Sqrt(pivot)
	}
	return true
}

// dot multiplies rows i and j ≤ i before column j.
func (m *skyline) dot(i, j int) float64 {
	from := max(m.first[i], m.first[j])
	if from >= j {
		return 0
	}
	a, b := m.rows[i][from-m.first[i]:j-m.first[i]], m.rows[j][from-m.first[j]:]
	total := 0.0
	for k, v := range a {
		total += v * b[k]
	}
	return total
}

func (m *skyline) solve(b []float64) {
	for i, row := range m.rows {
		at := m.first[i]
		for j, v := range row[:i-at] {
			b[i] -= v * b[at+j]
		}
		b[i] /= row[i-at]
	}
	for i := len(b) - 1; i >= 0; i-- {
		row, at := m.rows[i], m.first[i]
		b[i] /= row[i-at]
		for j, v := range row[:i-at] {
			b[at+j] -= v * b[i]
		}
	}
}
