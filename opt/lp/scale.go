package lp

import "math"

// scaleRounds is how often Scale equilibrates; the ranges of rows and columns
// come together as a square root each time.
const scaleRounds = 10

// Scale returns factors by row and column index, powers of two, such that the
// problem with coefficients rows[i] * a * cols[j] has the largest of every row
// and column close to 1: first every coefficient is divided by the geometric
// mean of its row's and column's least and largest, then Ruiz' equilibration
// follows. Holes, and rows and columns without coefficients, have 1. It changes
// nothing; with x = cols[j] * x' costs are multiplied by cols[j], bounds divided
// by it, and sides multiplied by rows[i]. It costs twelve passes.
// Source: D. Ruiz, "A scaling algorithm to equilibrate both rows and columns
// norms in matrices", RAL-TR-2001-034.
func Scale(p *Problem) (rows, cols []float64) {
	s := scaling{p: p, rows: make([]float64, p.RowSlots()), cols: make([]float64, p.ColSlots())}
	// Logarithms to the base of 2 of the factors.
	s.geometric()
	for range scaleRounds {
		s.equilibrate()
	}
	for _, logs := range [][]float64{s.rows, s.cols} {
		for i, v := range logs {
			logs[i] = math.Ldexp(1, int(math.Round(v)))
		}
	}
	return s.rows, s.cols
}

// scaling holds logarithms of factors.
type scaling struct {
	p          *Problem
	rows, cols []float64
}

// An extent is the least and largest logarithm of a row's or column's
// coefficients.
type extent struct{ least, most float64 }

// extents returns those of all rows and columns, scaled; of none, 0 and 0.
func (s *scaling) extents() (rows, cols []extent) {
	rows, cols = fresh(len(s.rows)), fresh(len(s.cols))
	for j := range s.cols {
		at, values := s.p.Entries(j)
		for k, r := range at {
			size := math.Log2(math.Abs(values[k])) + s.rows[r] + s.cols[j]
			rows[r].add(size)
			cols[j].add(size)
		}
	}
	for _, all := range [][]extent{rows, cols} {
		for i := range all {
			if all[i].most < all[i].least {
				all[i] = extent{}
			}
		}
	}
	return rows, cols
}

func fresh(n int) []extent {
	all := make([]extent, n)
	for i := range all {
		all[i] = extent{Inf, -Inf}
	}
	return all
}

func (e *extent) add(size float64) { e.least, e.most = min(e.least, size), max(e.most, size) }

// geometric divides rows, then columns, by the geometric mean of their ends.
func (s *scaling) geometric() {
	rows, _ := s.extents()
	for i, e := range rows {
		s.rows[i] -= (e.least + e.most) / 2
	}
	_, cols := s.extents()
	for j, e := range cols {
		s.cols[j] -= (e.least + e.most) / 2
	}
}

// equilibrate divides rows and columns by the square root of their largest.
func (s *scaling) equilibrate() {
	rows, cols := s.extents()
	for i, e := range rows {
		s.rows[i] -= e.most / 2
	}
	for j, e := range cols {
		s.cols[j] -= e.most / 2
	}
}
