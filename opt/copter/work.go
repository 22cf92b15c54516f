package copter

import (
	"math"
	"sync"
)

type work struct {
	slot              []uint32
	cost, low, up     []float64
	coef              []float64 // in the block's row
	center, x         []float64
	target            []float64
	reduced           []float64 // without the coupling rows' part
	size              []float64 // approximate
	give              []float64 // 1 / proximal term at weight 1
	first             []int32   // c's entries: first[c] to first[c+1]
	row               []int32   // of an entry
	val               []float64
	begin             []int32 // b's columns: begin[b] to begin[b+1]
	blockRow          []int32 // -1: columns without a block
	blockLow, blockUp []float64
	mu                []float64
	tight             []bool
	cut               []int32 // k's blocks: cut[k] to cut[k+1]

	rowSlot       []int32
	y             []float64
	z, zCenter    []float64
	rowLow, rowUp []float64
	zGive         []float64
	base          []float64 // of the other columns
	miss          []float64 // z - Ax: the slope of the dual in y
	part          [][]float64
	restCost      float64 // of the other columns

	threads int
	scale   float64 // 1 / proximal weight
}

// minimise sets x and z to the minimisers at y, and miss to the slope.
func (w *work) minimise(y []float64) {
	parallel(w.threads, len(w.cut)-1, func(k int) {
		act := w.part[k]
		clear(act)
		for b := w.cut[k]; b < w.cut[k+1]; b++ {
			w.minimiseBlock(int(b), y, act)
		}
	})
	for i, v := range y {
		w.z[i] = clip(w.zCenter[i]-v*w.zGive[i]*w.scale, w.rowLow[i], w.rowUp[i])
		act := w.base[i]
		for _, part := range w.part {
			act += part[i]
		}
		w.miss[i] = w.z[i] - act
	}
}

func (w *work) minimiseBlock(b int, y, act []float64) {
	from, to := w.begin[b], w.begin[b+1]
	for c := from; c < to; c++ {
		r := w.cost[c]
		entries := w.row[w.first[c]:w.first[c+1]]
		values := w.val[w.first[c]:w.first[c+1]]
		for e, i := range entries {
			r -= values[e] * y[i]
		}
		w.reduced[c] = r
		t := w.center[c] - r*w.give[c]*w.scale
		w.target[c] = t
		w.x[c] = clip(t, w.low[c], w.up[c])
	}
	if w.blockRow[b] >= 0 {
		k := w.knapsack(b)
		w.mu[b], w.tight[b] = k.project(w.x[from:to], w.target[from:to], w.give[from:to])
	}
	for c := from; c < to; c++ {
		x := w.x[c]
		if x == 0 {
			continue
		}
		entries := w.row[w.first[c]:w.first[c+1]]
		values := w.val[w.first[c]:w.first[c+1]]
		for e, i := range entries {
			act[i] += values[e] * x
		}
	}
}

func (w *work) knapsack(b int) knapsack {
	from, to := w.begin[b], w.begin[b+1]
	return knapsack{w.coef[from:to], w.low[from:to], w.up[from:to], w.blockLow[b], w.blockUp[b]}
}

func (w *work) residual() float64 {
	worst := 0.0
	for i, v := range w.miss {
		worst = max(worst, math.Abs(v)/w.rowSize(i))
	}
	return worst
}

func (w *work) rowSize(i int) float64 {
	size := math.Min(math.Abs(w.rowLow[i]), math.Abs(w.rowUp[i]))
	if math.IsInf(size, 0) {
		return 1
	}
	return 1 + size
}

func (w *work) objective() float64 {
	total := w.restCost
	for c, v := range w.x {
		total += w.cost[c] * v
	}
	return total
}

// bound returns the bound of y on the restricted problem, and the largest unheld reduced cost, for which it uses
// x.
func (w *work) bound() (bound, unheld float64) {
	bound = w.restCost
	for i, v := range w.y {
		bound += v * (sideFor(v, w.rowLow[i], w.rowUp[i], w.z[i]) - w.base[i])
	}
	var scratch []kink
	for b := range w.blockRow {
		from, to := w.begin[b], w.begin[b+1]
		mu := 0.0
		if w.blockRow[b] >= 0 {
			k := w.knapsack(b)
			mu, scratch = k.dual(w.reduced[from:to], scratch)
			bound += mu * sideFor(mu, w.blockLow[b], w.blockUp[b], 0)
		}
		for c := from; c < to; c++ {
			d := w.reduced[c] - mu*w.coef[c]
			end := sideFor(d, w.low[c], w.up[c], math.NaN())
			if math.IsNaN(end) {
				end = w.x[c]
				unheld = max(unheld, math.Abs(d)/(1+math.Abs(w.cost[c])))
			}
			bound += d * end
		}
	}
	return bound, unheld
}

func (w *work) thin() bool {
	held := 0
	for _, i := range w.row {
		if w.z[i] == w.rowLow[i] || w.z[i] == w.rowUp[i] {
			held++
		}
	}
	return len(w.row) > 100_000 && held < len(w.row)/2
}

// sideFor returns the end of low..up that minimises v times it, or otherwise if infinite.
func sideFor(v, low, up, otherwise float64) float64 {
	side := low
	if v < 0 {
		side = up
	}
	if math.IsInf(side, 0) {
		return otherwise
	}
	return side
}

func clip(v, low, up float64) float64 { return max(low, min(v, up)) }

func parallel(threads, n int, do func(k int)) {
	if threads = min(threads, n); threads <= 1 {
		for k := range n {
			do(k)
		}
		return
	}
	var wait sync.WaitGroup
	for t := range threads {
		wait.Go(func() {
			for k := t; k < n; k += threads {
				do(k)
			}
		})
	}
	wait.Wait()
}
