package copter

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/lp"
)

// maxTight bounds the holding coupling rows for which polish looks for a vertex.
const maxTight = 64

// atBound is the relative distance to a bound or side that counts as 0.
const atBound = 1e-9

type direction struct {
	block int32
	cols  [2]int32 // the second is -1 without one
	steps [2]float64
}

// A pusher moves x along directions that change no holding row and do not raise the objective, to a bound or
// another row. Each move removes a degree of freedom, so it ends at a vertex.
type pusher struct {
	w        *work
	x        []float64 // by column of w
	act      []float64
	blockAct []float64
	column   []float64 // changes along the move
	rows     []float64
	sums     []float64
	touched  []int32
	tight    []int32 // holding coupling rows
	holds    []bool
	basis    []direction
	matrix   []float64
}

// polish moves x to a vertex of its face, or a better one, if at most maxTight coupling rows hold. Each column
// between its bounds costs the cube of that number.
func (s *Solver) polish(p *lp.Problem, x []float64) {
	s.all = true
	s.build(p)
	q := newPusher(&s.work, lp.Activities(p, x), x)
	if len(q.tight) > maxTight {
		return
	}
	var todo []int32
	for b := range q.w.blockRow {
		todo = append(todo, int32(b))
	}
	// Each move brings a column to a bound or makes a row hold.
	moves := len(q.w.slot) + len(q.w.rowSlot) + len(q.w.blockRow)
	for len(todo) > 0 && len(q.tight) <= maxTight && moves > 0 {
		b := todo[len(todo)-1]
		q.drop(b)
		changed := q.settle(b)
		if len(changed) > 0 {
			moves--
		}
		q.drop(changed...)
		todo = append(todo[:len(todo)-1], changed...)
	}
	for c, j := range q.w.slot {
		x[j] = q.x[c]
	}
}

func (q *pusher) drop(blocks ...int32) {
	q.basis = slices.DeleteFunc(q.basis, func(d direction) bool { return slices.Contains(blocks, d.block) })
}

func newPusher(w *work, act, x []float64) *pusher {
	q := &pusher{
		w: w, x: make([]float64, len(w.slot)), act: make([]float64, len(w.rowSlot)),
		blockAct: make([]float64, len(w.blockRow)), column: make([]float64, len(w.slot)),
		rows: make([]float64, len(w.rowSlot)), sums: make([]float64, len(w.blockRow)),
		holds: make([]bool, len(w.rowSlot)),
	}
	for i, slot := range w.rowSlot {
		q.act[i] = act[slot]
	}
	for b := range w.blockRow {
		for c := w.begin[b]; c < w.begin[b+1]; c++ {
			q.x[c] = x[w.slot[c]]
			q.blockAct[b] += w.coef[c] * q.x[c]
		}
	}
	q.tighten()
	return q
}

func (q *pusher) tighten() {
	for i, a := range q.act {
		if !q.holds[i] && beside(a, q.w.rowLow[i], q.w.rowUp[i], q.w.rowSize(i)) {
			q.holds[i] = true
			q.tight = append(q.tight, int32(i))
		}
	}
}

func beside(v, low, up, size float64) bool {
	return v-low <= atBound*size || up-v <= atBound*size
}

// settle adds the directions of block b to the basis and returns the changed blocks.
func (q *pusher) settle(b int32) []int32 {
	for _, v := range q.directions(b) {
		weights, dependent := q.combine(v)
		if !dependent {
			q.basis = append(q.basis, v)
			continue
		}
		if changed := q.move(v, weights); changed != nil {
			return changed
		}
	}
	return nil
}

func (q *pusher) directions(b int32) []direction {
	w := q.w
	var all []direction
	row := w.blockRow[b] >= 0
	tied := row && beside(q.blockAct[b], w.blockLow[b], w.blockUp[b], 1+math.Abs(q.blockAct[b]))
	anchor := int32(-1)
	for c := w.begin[b]; c < w.begin[b+1]; c++ {
		if beside(q.x[c], w.low[c], w.up[c], w.size[c]) {
			continue
		}
		switch {
		case !tied:
			all = append(all, direction{b, [2]int32{c, -1}, [2]float64{1, 0}})
		case anchor < 0:
			anchor = c
		default:
			all = append(all, direction{b, [2]int32{c, anchor}, [2]float64{1, -w.coef[c] / w.coef[anchor]}})
		}
	}
	return all
}

func (q *pusher) on(v direction, column []float64) {
	clear(q.rows)
	q.addRows(v, 1)
	for k, i := range q.tight {
		column[k] = q.rows[i] / q.w.rowSize(int(i))
	}
}

func (q *pusher) addRows(v direction, weight float64) {
	w := q.w
	for k, c := range v.cols {
		if c < 0 {
			continue
		}
		for e := w.first[c]; e < w.first[c+1]; e++ {
			q.rows[w.row[e]] += weight * v.steps[k] * w.val[e]
		}
	}
}

// combine returns weights of the basis with which v changes no holding row.
func (q *pusher) combine(v direction) (weights []float64, dependent bool) {
	n, m := len(q.basis)+1, len(q.tight)
	q.matrix = sized(q.matrix, n*m)
	for k, d := range q.basis {
		q.on(d, q.matrix[k*m:k*m+m])
	}
	last := q.matrix[(n-1)*m : n*m]
	q.on(v, last)
	size := largest(last)
	pivots := make([]int, n-1)
	for k := range n - 1 {
		from := q.matrix[k*m : k*m+m]
		best := 0
		for i, a := range from {
			if math.Abs(a) > math.Abs(from[best]) {
				best = i
			}
		}
		pivots[k] = best
		for l := k + 1; l < n; l++ {
			to := q.matrix[l*m : l*m+m]
			ratio := to[best] / from[best]
			for i, a := range from {
				to[i] -= ratio * a
			}
			to[best] = 0
		}
	}
	if largest(last) > atBound*size {
		return nil, false
	}
	return q.solve(v, pivots), true
}

func (q *pusher) solve(v direction, pivots []int) []float64 {
	n, m := len(pivots), len(q.tight)
	a := make([]float64, n*(n+1)) // the basis, then -v
	column := make([]float64, m)
	for k := range n + 1 {
		if k < n {
			q.on(q.basis[k], column)
		} else {
			q.on(v, column)
		}
		for i, r := range pivots {
			a[i*(n+1)+k] = column[r]
		}
	}
	// no pivot is 0 in this order
	for k := range n {
		for i := range n {
			if i == k {
				continue
			}
			ratio := a[i*(n+1)+k] / a[k*(n+1)+k]
			for l := k; l <= n; l++ {
				a[i*(n+1)+l] -= ratio * a[k*(n+1)+l]
			}
		}
	}
	weights := make([]float64, n)
	for k := range weights {
		weights[k] = -a[k*(n+1)+n] / a[k*(n+1)+k]
	}
	return weights
}

func largest(v []float64) float64 {
	size := 0.0
	for _, a := range v {
		size = max(size, math.Abs(a))
	}
	return size
}

// move goes along v and the weighted basis as far as the objective does not rise. It returns the changed blocks;
// nil: nothing stops it.
func (q *pusher) move(v direction, weights []float64) []int32 {
	w := q.w
	clear(q.rows)
	q.touched = q.touched[:0]
	q.add(v, 1)
	for k, d := range q.basis {
		if weights[k] != 0 {
			q.add(d, weights[k])
		}
	}
	cost := 0.0
	for _, c := range q.touched {
		cost += w.cost[c] * q.column[c]
	}
	sign := 1.0
	if cost > 0 {
		sign = -1
	}
	t := q.reach(sign)
	var changed []int32
	if !math.IsInf(t, 1) {
		changed = q.step(sign * t)
	}
	for _, c := range q.touched {
		q.column[c] = 0
	}
	for _, c := range q.touched {
		q.sums[q.blockOf(c)] = 0
	}
	return changed
}

func (q *pusher) add(v direction, weight float64) {
	q.addRows(v, weight)
	for k, c := range v.cols {
		if c < 0 {
			continue
		}
		q.touched = append(q.touched, c)
		q.column[c] += weight * v.steps[k]
		q.sums[v.block] += weight * v.steps[k] * q.w.coef[c]
	}
}

func (q *pusher) reach(sign float64) float64 {
	w := q.w
	t := math.Inf(1)
	for _, c := range q.touched {
		t = min(t, room(q.x[c], sign*q.column[c], w.low[c], w.up[c]))
		b := q.blockOf(c)
		if w.blockRow[b] >= 0 {
			t = min(t, room(q.blockAct[b], sign*q.sums[b], w.blockLow[b], w.blockUp[b]))
		}
	}
	for i, d := range q.rows {
		if !q.holds[i] {
			t = min(t, room(q.act[i], sign*d, w.rowLow[i], w.rowUp[i]))
		}
	}
	return t
}

const negligible = 1e-11

func room(v, speed, low, up float64) float64 {
	switch {
	case speed > negligible:
		return max(0, (up-v)/speed)
	case speed < -negligible:
		return max(0, (low-v)/speed)
	}
	return math.Inf(1)
}

func (q *pusher) step(t float64) []int32 {
	w := q.w
	changed := []int32{}
	for _, c := range q.touched {
		if q.column[c] == 0 {
			continue
		}
		b := q.blockOf(c)
		x := q.x[c] + t*q.column[c]
		q.column[c] = 0
		switch {
		case x-w.low[c] <= atBound*w.size[c]:
			x = w.low[c]
		case w.up[c]-x <= atBound*w.size[c]:
			x = w.up[c]
		}
		q.blockAct[b] += w.coef[c] * (x - q.x[c])
		for e := w.first[c]; e < w.first[c+1]; e++ {
			q.act[w.row[e]] += w.val[e] * (x - q.x[c])
		}
		q.x[c] = x
		if len(changed) == 0 || changed[len(changed)-1] != b {
			changed = append(changed, b)
		}
	}
	q.tighten()
	return changed
}

func (q *pusher) blockOf(c int32) int32 {
	low, high := 0, len(q.w.blockRow)-1
	for low < high {
		mid := (low + high) / 2
		if q.w.begin[mid+1] <= c {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return int32(low)
}
