package rules

import (
	"slices"
)

// long is the number of entries from which a row stays an equation of the linear system. Shorter rows are eliminated
// from it.
const long = 16

// regular on the diagonals makes factors exist. It moves iterates by about 10⁻⁶. Source: ECOS.
const regular = 7e-8

// A system solves regular·x + G'z = bx, Gx − Dz = bz for a diagonal D.
type system struct {
	n        int
	long     []int // rows
	skyline  *skyline
	d, right []float64
}

func newSystem(n int, rows []row) system {
	y := system{n: n}
	for i := range rows {
		if len(rows[i].Cols) >= long {
			y.long = append(y.long, i)
		}
	}
	first := make([]int, n+len(y.long))
	for j := range n {
		first[j] = j
	}
	for _, r := range rows {
		if len(r.Cols) >= long {
			continue
		}
		for _, j := range r.Cols {
			for _, k := range r.Cols {
				first[j] = min(first[j], k)
			}
		}
	}
	y.skyline = newSkyline(first) // long rows start at column 0
	y.right = make([]float64, len(first))
	return y
}

func (y *system) factor(rows []row, d []float64) {
	y.d = d
	for i := range d {
		d[i] += regular
	}
	y.skyline.clear()
	for j := range y.n {
		y.skyline.add(j, j, regular)
	}
	for i, r := range rows {
		if len(r.Cols) >= long {
			continue
		}
		for a, j := range r.Cols {
			for b, k := range r.Cols {
				if k <= j {
					y.skyline.add(j, k, r.Values[a]*r.Values[b]/d[i])
				}
			}
		}
	}
	for l, i := range y.long {
		for a, j := range rows[i].Cols {
			y.skyline.add(y.n+l, j, rows[i].Values[a])
		}
		y.skyline.add(y.n+l, y.n+l, -d[i])
	}
	y.skyline.factor()
}

func (y *system) solve(rows []row, bx, bz, x, z []float64) {
	copy(y.right, bx)
	for l, i := range y.long {
		y.right[y.n+l] = bz[i]
	}
	for i, r := range rows {
		if len(r.Cols) >= long {
			continue
		}
		for a, j := range r.Cols {
			y.right[j] += r.Values[a] * bz[i] / y.d[i]
		}
	}
	y.skyline.solve(y.right)
	copy(x, y.right)
	for i, r := range rows {
		v := -bz[i]
		for a, j := range r.Cols {
			v += r.Values[a] * x[j]
		}
		z[i] = v / y.d[i]
	}
	for l, i := range y.long {
		z[i] = y.right[y.n+l]
	}
}

// A skyline is a symmetric matrix from column first[i] on in row i, or its factors LDL'. It needs no pivots:
// columns are positive definite, long rows negative. Source: Vanderbei, "Symmetric quasidefinite matrices", SIAM
// J. Opt. 5, 1995.
type skyline struct {
	first []int
	rows  [][]float64 // columns first[i] to i
	work  []float64
}

func newSkyline(first []int) *skyline {
	k := &skyline{first: first, rows: make([][]float64, len(first)), work: make([]float64, len(first))}
	for i, f := range first {
		k.rows[i] = make([]float64, i-f+1)
	}
	return k
}

func (k *skyline) clear() {
	for _, r := range k.rows {
		clear(r)
	}
}

func (k *skyline) add(i, j int, v float64) { k.rows[i][j-k.first[i]] += v }

func (k *skyline) factor() {
	for i, row := range k.rows {
		f := k.first[i]
		for j := f; j < i; j++ { // row times D
			from := max(f, k.first[j])
			row[j-f] -= dot(row[from-f:j-f], k.rows[j][from-k.first[j]:j-k.first[j]])
		}
		for j := f; j < i; j++ {
			d := k.rows[j][j-k.first[j]]
			row[i-f] -= row[j-f] * row[j-f] / d
			row[j-f] /= d
		}
	}
}

func (k *skyline) solve(b []float64) {
	for i, row := range k.rows {
		b[i] -= dot(row[:i-k.first[i]], b[k.first[i]:i])
	}
	for i, row := range k.rows {
		b[i] /= row[i-k.first[i]]
	}
	for i, row := range slices.Backward(k.rows) {
		for j, l := range row[:i-k.first[i]] {
			b[k.first[i]+j] -= l * b[i]
		}
	}
}
