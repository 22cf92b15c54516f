package barrier

import (
	"math"
)

// A factor is the upper triangle R of R'R. Rotations add dyads, so that other directions stay exact. Source: Golub
// and Van Loan, Matrix Computations, §6.5.4.
type factor struct {
	k int
	r []float64
	h []float64
}

func newFactor(k int) *factor {
	return &factor{k: k, r: make([]float64, k*k), h: make([]float64, k)}
}

func (f *factor) diagonal(a, b []float64) {
	clear(f.r)
	for j := range a {
		if f.r[j*f.k+j] = 1; b[j] > 0 {
			f.r[j*f.k+j] = math.Sqrt(a[j] / b[j])
		}
	}
}

func (f *factor) update(v []float64, d float64) {
	for j := range f.h {
		f.h[j] = d * v[j]
	}
	for i := range f.k {
		row := f.r[i*f.k : (i+1)*f.k]
		long := math.Hypot(row[i], f.h[i])
		c, s := row[i]/long, f.h[i]/long
		for j := i; j < f.k; j++ {
			row[j], f.h[j] = c*row[j]+s*f.h[j], c*f.h[j]-s*row[j]
		}
	}
}

// weigh sets m = B⁻¹ a / (slack + a'B⁻¹a) and returns the inverse of the divisor.
func (f *factor) weigh(a, m []float64, slack float64) float64 {
	f.lower(a)
	give := 1 / (slack + dot(f.h, f.h))
	f.upper(m)
	for j := range m {
		m[j] *= give
	}
	return give
}

func (f *factor) solve(b, x []float64) {
	f.lower(b)
	f.upper(x)
}

func (f *factor) lower(b []float64) {
	for i := range f.k {
		v := b[i]
		for j := range i {
			v -= f.r[j*f.k+i] * f.h[j]
		}
		f.h[i] = v / f.r[i*f.k+i]
	}
}

func (f *factor) upper(x []float64) {
	for i := f.k - 1; i >= 0; i-- {
		v := f.h[i]
		for j := i + 1; j < f.k; j++ {
			v -= f.r[i*f.k+j] * x[j]
		}
		x[i] = v / f.r[i*f.k+i]
	}
}

func (f *factor) invert(to []float64) {
	unit := make([]float64, f.k)
	for j := range f.k {
		unit[j] = 1
		f.lower(unit)
		copy(to[j*f.k:(j+1)*f.k], f.h)
		unit[j] = 0
	}
}

func (w *path) products(end float64) (mean, off float64) {
	n := 0
	add := func(slack, dual float64) {
		mean += slack * dual
		off = math.Max(off, math.Abs(slack*dual/end-1))
		n++
	}
	for i := range w.items {
		it := &w.items[i]
		add(it.u, it.q)
		if it.needs {
			add(it.v, it.w)
		}
		for j, on := range it.on {
			if on > 0 {
				add(it.x[j], it.p[j])
			}
		}
	}
	for j := range w.f {
		add(w.f[j], w.y[j])
	}
	return mean / float64(n), off
}

func (w *path) residual() float64 {
	worst, level := 0.0, 1.0
	for i := range w.items {
		it := &w.items[i]
		level -= it.w
		for j, on := range it.on {
			if on > 0 {
				r := it.c[j] + it.p[j] - it.q + it.a[j]*it.w - it.s[j]*w.y[j]
				worst = math.Max(worst, math.Abs(r)/(1+it.p[j]+it.q+it.a[j]*it.w+it.s[j]*w.y[j]))
			}
		}
	}
	if w.level {
		worst = math.Max(worst, math.Abs(level))
	}
	return worst
}

func (w *path) report(out *Solution) {
	out.X = matrix(len(w.items), len(w.c))
	out.Prices = make([]float64, len(w.c))
	unit, weights := w.gain, 0.0
	for i := range w.items {
		copy(out.X[i], w.items[i].x)
		weights += w.items[i].w
	}
	scale := 1.0 // makes the duals feasible
	if w.level {
		unit, scale = w.most, 1/weights
		out.Level = w.z * unit
		out.Objective = out.Level
	}
	for i := range w.items {
		it := &w.items[i]
		if !w.level {
			out.Objective += unit * dot(it.c, it.x)
		}
		best := 0.0
		for j := range w.c {
			best = math.Max(best, it.c[j]+scale*(it.a[j]*it.w-it.s[j]*w.y[j]))
		}
		if out.Bound += unit * best; !w.level {
			out.Bound -= unit * it.w
		}
	}
	for j := range w.c {
		out.Prices[j] = unit * scale * w.y[j]
		out.Bound += out.Prices[j] * w.c[j]
	}
}
