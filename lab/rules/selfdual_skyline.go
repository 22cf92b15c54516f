package rules

import "slices"

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
