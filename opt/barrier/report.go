package barrier

import "math"

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
