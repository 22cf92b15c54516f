package mmkp

import "math"

// meet moves the vertex to where the planes meet. It reports false if they are dependent, which only rounding can
// cause.
func (s *coreProblem) meet() bool {
	clear(s.work)
	for r, p := range s.planes {
		normal := s.work[r*s.K : (r+1)*s.K]
		if p.k < 0 {
			s.Use(&s.Columns[p.a], normal, 1)
			s.Use(&s.Columns[p.b], normal, -1)
		} else {
			normal[p.k] = 1
		}
	}
	if !invert(s.work, s.inverse, s.K) {
		return false
	}
	for k := range s.vertex {
		x := 0.0
		for r, p := range s.planes {
			x += s.inverse[k*s.K+r] * p.at
		}
		s.vertex[k] = max(0, x)
	}
	return true
}

// flatten marks ties that no longer hold at the vertex, because a third column became better than both.
func (s *coreProblem) flatten() {
	for r := range s.planes {
		p := &s.planes[r]
		if p.bend != tie {
			continue
		}
		best, a := s.pick[p.item], s.Columns[p.a].Nudged
		cost := s.Cost(&s.Columns[p.a], s.vertex)
		lack := s.Columns[best].Nudged - s.Cost(&s.Columns[best], s.vertex) - (a - cost)
		if lack > 1e-12*(math.Abs(a)+cost) {
			p.bend = flat
		}
	}
}

func (s *coreProblem) untie() {
	copy(s.idle, s.Spare)
	for _, c := range s.pick {
		s.Use(&s.Columns[c], s.idle, -1)
	}
	for r := range s.planes {
		if s.leads(r) {
			i := s.planes[r].item
			s.Use(&s.Columns[s.pick[i]], s.idle, 1)
		}
	}
}

func (s *coreProblem) leads(r int) bool {
	if s.planes[r].bend != tie {
		return false
	}
	for q := range r {
		if s.alike(q, r) {
			return false
		}
	}
	return true
}

func (s *coreProblem) alike(q, r int) bool {
	return s.planes[q].bend == tie && s.planes[q].item == s.planes[r].item
}

// invert writes the inverse of the n x n matrix a to inv and destroys a (Gauss-Jordan with row pivoting).
func invert(a, inv []float64, n int) bool {
	clear(inv)
	for i := range n {
		inv[i*n+i] = 1
	}
	for col := range n {
		pivot := col
		for r := col + 1; r < n; r++ {
			if math.Abs(a[r*n+col]) > math.Abs(a[pivot*n+col]) {
				pivot = r
			}
		}
		scale := a[pivot*n+col]
		if math.Abs(scale) < 1e-12 {
			return false
		}
		for j := range n {
			a[col*n+j], a[pivot*n+j] = a[pivot*n+j], a[col*n+j]
			inv[col*n+j], inv[pivot*n+j] = inv[pivot*n+j], inv[col*n+j]
		}
		for j := range n {
			a[col*n+j] /= scale
			inv[col*n+j] /= scale
		}
		for r := range n {
			f := a[r*n+col]
			if r == col || f == 0 {
				continue
			}
			for j := range n {
				a[r*n+j] -= f * a[col*n+j]
				inv[r*n+j] -= f * inv[col*n+j]
			}
		}
	}
	return true
}

// Split returns how many items are divided between two columns at the last vertex: at most one per resource.
func (s *coreProblem) Split() int {
	split := 0
	for r := range s.planes {
		if s.leads(r) {
			split++
		}
	}
	return split
}

// AtEnds calls visit for each resource k whose price is positive and at an end of its Range. There a wider Range may
// give a lower upper bound.
func (s *coreProblem) AtEnds(visit func(k int)) {
	for _, e := range s.planes {
		if e.bend == roof || e.bend == floor && e.at > 0 {
			visit(e.k)
		}
	}
}
