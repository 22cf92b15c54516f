package copter

import (
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

func (s *Solver) build(p *lp.Problem) {
	w := &s.work
	w.threads = s.opts.Threads
	s.buildRows(p)
	w.slot, w.cost, w.low, w.up, w.coef = w.slot[:0], w.cost[:0], w.low[:0], w.up[:0], w.coef[:0]
	w.center, w.give, w.size = w.center[:0], w.give[:0], w.size[:0]
	w.row, w.val, w.first = w.row[:0], w.val[:0], append(w.first[:0], 0)
	w.begin, w.blockRow = append(w.begin[:0], 0), w.blockRow[:0]
	w.blockLow, w.blockUp = w.blockLow[:0], w.blockUp[:0]
	w.restCost = 0
	for k := range s.parts {
		sh := &s.parts[k]
		w.restCost += sh.rest
		for c, i := range w.rowSlot {
			w.base[c] += sh.base[s.shape.index[i]]
		}
		from := int32(0)
		for _, b := range sh.blocks {
			for c := from; c < b.end; c++ {
				s.buildCol(p, int(sh.cols[c]), sh.coef[c], b)
			}
			from = b.end
			w.begin = append(w.begin, int32(len(w.slot)))
			w.blockRow = append(w.blockRow, b.row)
			w.blockLow, w.blockUp = append(w.blockLow, b.low), append(w.blockUp, b.up)
		}
	}
	n := len(w.slot)
	w.x, w.target, w.reduced = sized(w.x, n), sized(w.target, n), sized(w.reduced, n)
	w.mu, w.tight = sized(w.mu, len(w.blockRow)), sized(w.tight, len(w.blockRow))
	clear(w.mu)
	clear(w.tight)
	s.chunks()
	for i := range w.y {
		act := w.base[i]
		w.zCenter[i] = act
	}
	for c, x := range w.center {
		for e := w.first[c]; e < w.first[c+1]; e++ {
			w.zCenter[w.row[e]] += w.val[e] * x
		}
	}
	for i, v := range w.zCenter {
		w.zCenter[i] = clip(v, w.rowLow[i], w.rowUp[i])
	}
}

// near is the relative slack of coupling rows without a multiplier in the restricted problem.
const near = 0.05

// buildRows sets up the coupling rows that hold or may; all of them in a first pass.
func (s *Solver) buildRows(p *lp.Problem) {
	w := &s.work
	w.rowSlot = w.rowSlot[:0]
	s.rowAt = sized(s.rowAt, len(s.shape.index))
	for i := range s.rowAt {
		s.rowAt[i] = -1
	}
	for c, i := range s.shape.rows {
		low, up := p.Sides(int(i))
		if s.all || s.y[i] != 0 || !within(s.act[c], low, up, near) {
			s.rowAt[i] = int32(len(w.rowSlot))
			w.rowSlot = append(w.rowSlot, i)
		}
	}
	m := len(w.rowSlot)
	for _, v := range []*[]float64{&w.y, &w.z, &w.zCenter, &w.rowLow, &w.rowUp, &w.zGive, &w.base, &w.miss} {
		*v = sized(*v, m)
	}
	clear(w.base)
	for c, i := range w.rowSlot {
		w.rowLow[c], w.rowUp[c] = p.Sides(int(i))
		w.y[c] = s.y[i]
		w.zGive[c] = w.rowSize(c) / s.worth[s.shape.index[i]]
	}
}

func within(v, low, up, share float64) bool {
	return v-low > share*(1+math.Abs(low)) && up-v > share*(1+math.Abs(up)) ||
		math.IsInf(low, -1) && up-v > share*(1+math.Abs(up)) ||
		math.IsInf(up, 1) && v-low > share*(1+math.Abs(low)) ||
		math.IsInf(low, -1) && math.IsInf(up, 1)
}

func (s *Solver) buildCol(p *lp.Problem, j int, coef float64, b block) {
	w := &s.work
	col := p.Column(j)
	size := math.Inf(1)
	if span := col.Up - col.Low; span > 0 {
		size = span
	}
	if b.row >= 0 && coef != 0 {
		for _, side := range [2]float64{b.low, b.up} {
			if side != 0 {
				size = min(size, math.Abs(side/coef))
			}
		}
	}
	for e, q := range col.Rows {
		i := s.rowAt[q]
		if i < 0 {
			continue
		}
		w.row, w.val = append(w.row, i), append(w.val, col.Values[e])
		if side := w.rowSize(int(i)) - 1; math.IsInf(size, 1) && side > 0 {
			size = side / math.Abs(col.Values[e])
		}
	}
	if math.IsInf(size, 1) {
		size = 1
	}
	size = max(size, 1e-9)
	w.size = append(w.size, size)
	size = max(size, math.Abs(s.x[j]))
	w.first = append(w.first, int32(len(w.row)))
	w.slot = append(w.slot, uint32(j))
	w.cost, w.low, w.up = append(w.cost, col.Cost), append(w.low, col.Low), append(w.up, col.Up)
	w.coef = append(w.coef, coef)
	w.center = append(w.center, s.x[j])
	w.give = append(w.give, size/max(math.Abs(col.Cost), 0.1*s.shape.size))
}

func (s *Solver) chunks() {
	w := &s.work
	m, total := len(w.y), len(w.row)+4*len(w.slot)
	n := min(max(total/(50_000+8*m), 1), 32)
	w.cut = append(w.cut[:0], 0)
	done := 0
	for b := range w.blockRow {
		from, to := w.begin[b], w.begin[b+1]
		done += int(w.first[to]-w.first[from]) + 4*int(to-from)
		if done*n >= total*len(w.cut) && len(w.cut) < n {
			w.cut = append(w.cut, int32(b+1))
		}
	}
	w.cut = append(w.cut, int32(len(w.blockRow)))
	w.part = sized(w.part, len(w.cut)-1)
	for k := range w.part {
		w.part[k] = sized(w.part[k], m)
	}
}
