package barrier

import "math"

// An item has rates relative to its need.
type item struct {
	on, s, a, c []float64 // allowed, size, rate, gain
	x, p        []float64 // fractions, duals of x ≥ 0
	u, q        float64   // of its time
	v, w        float64   // of its rate; only if needs
	needs       bool
}

type path struct {
	p       *Program
	items   []item
	c, f, y []float64 // by kind: capacity, slack, dual
	level   bool      // Level rather than Best
	most    float64   // Level: unit of z
	gain    float64   // unit of Best's gains; 0: none
	z       float64
	step    stepper
}

func newPath(p *Program, most float64) *path {
	n, k := len(p.Items), len(p.Capacity)
	w := &path{p: p, items: make([]item, n), level: most > 0, most: most}
	w.c, w.f, w.y = make([]float64, k), make([]float64, k), make([]float64, k)
	for j := range w.c {
		if w.c[j] = p.Capacity[j]; w.c[j] <= 0 {
			w.c[j] = 1
		}
	}
	if !w.level {
		w.gain = p.largestGain()
	}
	rows := matrix(6*n, k)
	for i := range w.items {
		w.load(i, rows[6*i:6*i+6])
	}
	w.step = newStepper(n, k)
	return w
}

func (w *path) load(i int, rows [][]float64) {
	from, it := &w.p.Items[i], &w.items[i]
	it.on, it.s, it.a, it.c, it.x, it.p = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
	it.needs = from.Least > 0
	unit := 1.0
	if w.level {
		unit = w.most
	}
	for j := range w.c {
		if !w.p.open(from, j) {
			continue
		}
		it.on[j], it.s[j] = 1, from.Size[j]
		if it.needs {
			it.a[j] = from.Rate[j] / (from.Least * unit)
		}
		if w.gain > 0 && from.Gain != nil {
			it.c[j] = from.Gain[j] / w.gain
		}
	}
}

func (p *Program) largestGain() float64 {
	most := 0.0
	for i := range p.Items {
		for j, g := range p.Items[i].Gain {
			if p.open(&p.Items[i], j) {
				most = math.Max(most, math.Abs(g))
			}
		}
	}
	return most
}

func (w *path) least() float64 {
	if w.level {
		return w.z
	}
	return 1
}

func (w *path) start() {
	for j := range w.c {
		sum := 0.0
		for i := range w.items {
			sum += w.items[i].s[j]
		}
		each := math.Min(0.5/float64(len(w.c)), w.c[j]/(2*math.Max(sum, 1e-300)))
		for i := range w.items {
			w.items[i].x[j] = each * w.items[i].on[j]
		}
	}
	if w.level {
		w.z = math.Inf(1)
		for i := range w.items {
			if it := &w.items[i]; it.needs {
				w.z = math.Min(w.z, dot(it.a, it.x))
			}
		}
		w.z--
	}
	w.slacks()
}

func (w *path) startAt(x [][]float64) {
	for i := range w.items {
		copy(w.items[i].x, x[i])
	}
	w.slacks()
}

func (w *path) slacks() {
	const least = 1e-12
	product := 1.0
	if w.level || w.gain > 0 {
		product = 1 / float64(max(1, len(w.items)))
	}
	copy(w.f, w.c)
	for i := range w.items {
		it := &w.items[i]
		it.u = math.Max(least, 1-sum(it.x))
		it.q = product / it.u
		if it.needs {
			it.v = math.Max(least, dot(it.a, it.x)-w.least())
			it.w = product / it.v
		}
		for j, on := range it.on {
			if w.f[j] -= it.s[j] * it.x[j]; on > 0 {
				it.p[j] = product / it.x[j]
			}
		}
	}
	for j := range w.f {
		w.f[j] = math.Max(least, w.f[j])
		w.y[j] = product / w.f[j]
	}
}

func (w *path) run(o Settings) Solution {
	end := o.Mu
	if !w.level && w.gain == 0 {
		end = 1
	}
	out := Solution{Feasible: true}
	short := false
	for out.Iterations = 0; out.Iterations < o.Iterations; out.Iterations++ {
		mean, off := w.products(end)
		if off < 1e-4 && w.residual() < 1e-7 {
			out.Converged = true
			break
		}
		sigma := 0.1
		if short {
			sigma = 0.5
		}
		target := end
		if w.level || w.gain > 0 {
			target = math.Max(end, sigma*mean)
		}
		w.newton(target)
		primal, dual := w.lengths()
		w.move(primal, dual)
		short = math.Min(primal, dual) < 0.7
	}
	w.report(&out)
	return out
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

func dot(x, y []float64) float64 {
	s := 0.0
	for j, v := range x {
		s += v * y[j]
	}
	return s
}
