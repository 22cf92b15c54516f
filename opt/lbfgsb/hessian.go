package lbfgsb

// hessian is B: θI, updated by BFGS with the last pairs. θ is y'y/y's of the newest.
//
// Invariant: every pair has y's > 0, so B is positive definite up to rounding.
type hessian struct {
	n     int
	b     []float64 // n×n, symmetric
	s, y  []float64
	ys    []float64 // y's of each
	cap   int
	count int
	next  int
	bs    []float64
}

func (h *hessian) reset(n, pairs int) {
	h.n, h.cap = n, pairs
	h.b, h.bs = resize(h.b, n*n), resize(h.bs, n)
	h.s, h.y, h.ys = resize(h.s, n*pairs), resize(h.y, n*pairs), resize(h.ys, pairs)
	h.forget()
}

func (h *hessian) forget() {
	h.count, h.next = 0, 0
	h.scale(1)
}

func (h *hessian) scale(theta float64) {
	clear(h.b)
	for i := 0; i < len(h.b); i += h.n + 1 {
		h.b[i] = theta
	}
}

func (h *hessian) row(i int) []float64 { return h.b[i*h.n : (i+1)*h.n] }

func (h *hessian) times(v, out []float64) {
	for i := range out {
		out[i] = dot(h.row(i), v)
	}
}

func (h *hessian) add(s, before, after []float64, ys float64) {
	at := h.next * h.n
	copy(h.s[at:at+h.n], s)
	y := h.y[at : at+h.n]
	for i := range y {
		y[i] = after[i] - before[i]
	}
	h.ys[h.next] = ys
	h.next = (h.next + 1) % h.cap
	h.count = min(h.count+1, h.cap)
	h.build(dot(y, y) / ys)
}

// build computes B: for each pair, B += yy'/y's − Bs(Bs)'/s'Bs.
func (h *hessian) build(theta float64) {
	h.scale(theta)
	for k := range h.count {
		p := (h.next - h.count + k + h.cap) % h.cap
		s, y := h.s[p*h.n:(p+1)*h.n], h.y[p*h.n:(p+1)*h.n]
		h.times(s, h.bs)
		wy, wb := 1/h.ys[p], 1/dot(s, h.bs)
		for i := range h.n {
			row, cy, cb := h.row(i), wy*y[i], wb*h.bs[i]
			bs := h.bs[:len(row)]
			for j, v := range y[:len(row)] {
				row[j] += cy*v - cb*bs[j]
			}
		}
	}
}
