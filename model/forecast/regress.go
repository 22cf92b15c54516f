package forecast

import "math"

const clues = 4

const tiny = 1e-12

// A regression fits a linear function of the clues by least squares, with fading weights. A prior draws each
// coefficient towards 0.
type regression struct {
	keep   float64 // weight of the past from pair to pair
	prior  float64 // number of pairs that the prior counts as
	pairs  float64 // weighted number of observed pairs
	square [clues][clues]float64
	cross  [clues]float64
}

func (r *regression) observe(x [clues]float64, y float64) {
	r.pairs = r.keep*r.pairs + 1
	for i := range x {
		for j := range x {
			r.square[i][j] = r.keep*r.square[i][j] + x[i]*x[j]
		}
		r.cross[i] = r.keep*r.cross[i] + x[i]*y
	}
}

func (r *regression) expect(x [clues]float64) float64 {
	sum := 0.0
	for i, b := range r.coefficients() {
		sum += b * x[i]
	}
	return sum
}

// coefficients solves (square + prior)·b = cross. The matrix is positive definite, so it needs no pivots.
func (r *regression) coefficients() [clues]float64 {
	a, b := r.square, r.cross
	for i := range a {
		a[i][i] = a[i][i]*(1+r.prior/math.Max(r.pairs, 1)) + tiny
	}
	for k := range clues {
		for i := k + 1; i < clues; i++ {
			w := a[i][k] / a[k][k]
			for j := k; j < clues; j++ {
				a[i][j] -= w * a[k][j]
			}
			b[i] -= w * b[k]
		}
	}
	for k := clues - 1; k >= 0; k-- {
		for j := k + 1; j < clues; j++ {
			b[k] -= a[k][j] * b[j]
		}
		b[k] /= a[k][k]
	}
	return b
}
