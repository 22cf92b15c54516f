package main

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/simulate/workload"
)

const mostKnots = 9

// A noise is ln phi = level + slope · ln(batch / first batch), linear between knots.
type noise struct {
	first        float64 // smallest batch size
	knots        []int   // epochs
	level, slope []float64
}

type sample struct {
	epoch  int
	x, phi float64 // logarithms
	weight float64
}

// leastWeight is for noise scales without effect on efficiency; others have its derivative by ln phi, at most 1/4.
const leastWeight = 0.01

func read(epoch int, batch, first, init, phi float64) sample {
	means := phi * math.Abs(batch-init) / ((phi + batch) * (phi + batch))
	return sample{epoch: epoch, x: math.Log(batch / first), phi: math.Log(phi), weight: leastWeight + means}
}

// fitNoise fits a curve with gradients relative to a batch of init samples. It repeatedly adds the knot that
// reduces the squares most, from the first and last epoch on.
func fitNoise(c *workload.Curve, init float64) noise {
	var all []sample
	for i, b := range c.Batches {
		for e := range c.Ends {
			if phi := init * c.Var[i][e] / c.Sqr[i][e]; !math.IsInf(phi, 1) {
				all = append(all, read(e, b, c.Batches[0], init, phi))
			}
		}
	}
	n := noise{first: c.Batches[0], knots: slices.Compact([]int{0, len(c.Ends) - 1})}
	rest := n.solve(all)
	for len(n.knots) < min(mostKnots, len(c.Ends)) {
		best := noise{}
		least := rest
		for e := range c.Ends {
			at, found := slices.BinarySearch(n.knots, e)
			if found {
				continue
			}
			trial := noise{first: n.first, knots: slices.Insert(slices.Clone(n.knots), at, e)}
			if r := trial.solve(all); r < least {
				best, least = trial, r
			}
		}
		if best.knots == nil {
			break
		}
		n, rest = best, least
	}
	for k := range n.level {
		n.level[k], n.slope[k] = digits(n.level[k], 5), digits(n.slope[k], 5)
	}
	return n
}

func (n *noise) weight(epoch int) (int, float64) {
	i, found := slices.BinarySearch(n.knots, epoch)
	if found {
		return i, 0
	}
	return i - 1, float64(epoch-n.knots[i-1]) / float64(n.knots[i]-n.knots[i-1])
}

func (n *noise) scale(epoch int, batch float64) float64 {
	i, w := n.weight(epoch)
	level, slope := n.level[i], n.slope[i]
	if w > 0 {
		level += w * (n.level[i+1] - level)
		slope += w * (n.slope[i+1] - slope)
	}
	return math.Exp(level + slope*math.Log(batch/n.first))
}

func (n *noise) solve(all []sample) float64 {
	k := len(n.knots)
	a := make([][]float64, 2*k) // normal equations, right side last
	for i := range a {
		a[i] = make([]float64, 2*k+1)
		a[i][i] = ridge
	}
	basis := make([]float64, 2*k)
	for _, r := range all {
		n.basis(r, basis)
		for i, u := range basis {
			for j, v := range basis {
				a[i][j] += r.weight * r.weight * u * v
			}
			a[i][2*k] += r.weight * r.weight * u * r.phi
		}
	}
	x := eliminate(a)
	n.level, n.slope = x[:k], x[k:]
	rest := 0.0
	for _, r := range all {
		n.basis(r, basis)
		off := r.phi
		for i, u := range basis {
			off -= u * x[i]
		}
		rest += r.weight * r.weight * off * off
	}
	return rest
}

// ridge keeps the equations regular at a knot without samples.
const ridge = 1e-9

// basis sets derivatives of ln phi by levels and slopes.
func (n *noise) basis(r sample, out []float64) {
	clear(out)
	k := len(n.knots)
	i, w := n.weight(r.epoch)
	out[i], out[k+i] = 1-w, (1-w)*r.x
	if w > 0 {
		out[i+1], out[k+i+1] = w, w*r.x
	}
}

// eliminate solves a symmetric positive definite system, right side last, in place.
func eliminate(a [][]float64) []float64 {
	n := len(a)
	for i := range n {
		for j := i + 1; j < n; j++ {
			f := a[j][i] / a[i][i]
			for c := i; c <= n; c++ {
				a[j][c] -= f * a[i][c]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = a[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= a[i][j] * x[j]
		}
		x[i] /= a[i][i]
	}
	return x
}
