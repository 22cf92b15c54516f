package copter

import (
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

// A pass prices all columns at y: the bound of y, the quality of x, and the working set.
type pass struct {
	bound     float64 // proven by y
	estimate  float64 // bound, with unheld reduced costs counted at x
	dual      float64
	slip      float64 // sum of unheld reduced costs at x
	objective float64
	violation float64 // of rows, as lp.PrimalResidual
	broken    bool    // the shape is of another problem
	picked    int
}

type share struct {
	pass
	act    []float64
	base   []float64 // activity of the other columns
	rest   float64   // their cost
	cols   []uint32  // picked columns, by block
	coef   []float64
	blocks []block
	count  [buckets]int32
	r, a   []float64
	kinks  []kink
	k      knapsack
}

type block struct {
	row     int32
	end     int32
	low, up float64
}

// The importance of a column is |reduced cost| / (|cost| + mean |cost|); small is important. Buckets are by
// exponent and one bit.
const buckets = 4096

func bucketOf(v float64) int { return int(math.Float64bits(v) >> 51) }

const looseChunk = 256

// price makes a pass at s.y and s.x, and picks columns up to importance theta.
func (s *Solver) price(p *lp.Problem, theta float64) pass {
	copy(s.lambda, s.y)
	for _, i := range s.shape.blocks {
		s.lambda[i] = 0
	}
	n, at := len(s.parts), pricing{s, p, theta}
	parallel(s.opts.Threads, n, func(k int) {
		sh := &s.parts[k]
		sh.reset(len(s.shape.rows))
		for b := s.shareCut[k]; b < s.shareCut[k+1]; b++ {
			if b < len(s.shape.blocks) {
				row := s.shape.blocks[b]
				at.block(sh, row, p.RowCols(int(row)))
				continue
			}
			from := (b - len(s.shape.blocks)) * looseChunk
			at.block(sh, -1, s.shape.loose[from:min(from+looseChunk, len(s.shape.loose))])
		}
	})
	return s.gather(p)
}

func (s *Solver) gather(p *lp.Problem) pass {
	total := pass{bound: p.Offset, estimate: p.Offset, objective: p.Offset}
	for k := range s.parts {
		sh := &s.parts[k]
		total.bound += sh.bound
		total.estimate += sh.estimate
		total.slip += sh.slip
		total.dual = max(total.dual, sh.dual)
		total.broken = total.broken || sh.broken
		total.objective += sh.objective
		total.violation = max(total.violation, sh.violation)
		total.picked += len(sh.cols)
	}
	s.act = sized(s.act, len(s.shape.rows))
	for c, i := range s.shape.rows {
		low, up := p.Sides(int(i))
		act := 0.0
		for k := range s.parts {
			act += s.parts[k].act[c]
		}
		s.act[c] = act
		total.violation = max(total.violation, over(act, low, up))
		if v := s.y[i]; v != 0 {
			part := v * sideFor(v, low, up, 0) // keep drops multipliers without a side
			total.bound += part
			total.estimate += part
		}
	}
	if math.IsNaN(total.bound) {
		total.bound = math.Inf(-1)
	}
	return total
}

func (sh *share) reset(m int) {
	*sh = share{
		act: sized(sh.act, m), base: sized(sh.base, m),
		cols: sh.cols[:0], coef: sh.coef[:0], blocks: sh.blocks[:0], r: sh.r, a: sh.a, kinks: sh.kinks,
		k: sh.k,
	}
	clear(sh.act)
	clear(sh.base)
}

type pricing struct {
	*Solver
	p     *lp.Problem
	theta float64
}

func (s *pricing) block(sh *share, row int32, cols []uint32) {
	p := s.p
	act := s.reduce(p, sh, row, cols)
	b := block{row: row, low: math.Inf(-1), up: math.Inf(1)}
	mu := 0.0
	if row >= 0 {
		b.low, b.up = p.Sides(int(row))
		sh.violation = max(sh.violation, over(act, b.low, b.up))
		mu = s.blockDual(sh, cols, b)
		part := mu * sideFor(mu, b.low, b.up, 0)
		sh.bound += part
		sh.estimate += part
		s.y[row] = mu
	}
	s.pick(sh, b, cols, mu)
}

// reduce sets sh.r to reduced costs without the block row's part, sh.a to coefficients in the block row, and
// returns the row's activity.
func (s *Solver) reduce(p *lp.Problem, sh *share, row int32, cols []uint32) (act float64) {
	sh.r, sh.a = sized(sh.r, len(cols)), sized(sh.a, len(cols))
	costs := p.Costs()
	for c, j := range cols {
		rows, values := p.Entries(int(j))
		r, x := costs[j], s.x[j]
		sh.a[c] = 0
		for e, q := range rows {
			if int32(q) == row {
				sh.a[c] = values[e]
				continue
			}
			r -= values[e] * s.lambda[q]
			sh.broken = sh.broken || s.shape.kind[q] == blockRow
		}
		sh.r[c] = r
		if x != 0 {
			sh.objective += costs[j] * x
			act += sh.a[c] * x
			s.spread(sh.act, rows, values, x)
		}
	}
	return act
}

// pick adds the columns to the bound, and picks those that are important or at the wrong bound.
func (s *pricing) pick(sh *share, b block, cols []uint32, mu float64) {
	p, theta := s.p, s.theta
	costs, lows, ups := p.Costs(), p.Lows(), p.Ups()
	picked := len(sh.cols)
	for c, j := range cols {
		d, x := sh.r[c]-mu*sh.a[c], s.x[j]
		end := sideFor(d, lows[j], ups[j], math.NaN())
		if math.IsNaN(end) {
			s.unheld(sh, int(j), d, mu*sh.a[c])
		} else {
			sh.bound += d * end
			sh.estimate += d * end
		}
		importance := math.Abs(d) / (math.Abs(costs[j]) + s.shape.size)
		sh.count[bucketOf(importance)]++
		if importance <= theta || x != end {
			sh.cols = append(sh.cols, j)
			sh.coef = append(sh.coef, sh.a[c])
			continue
		}
		if x != 0 {
			rows, values := p.Entries(int(j))
			s.spread(sh.base, rows, values, x)
			sh.rest += costs[j] * x
			b.low -= sh.a[c] * x
			b.up -= sh.a[c] * x
		}
	}
	if len(sh.cols) > picked {
		b.end = int32(len(sh.cols))
		sh.blocks = append(sh.blocks, b)
	}
}

// unheld counts a reduced cost d that no bound holds; 0 if it is rounding.
func (s *pricing) unheld(sh *share, j int, d, part float64) {
	rows, values := s.p.Entries(j)
	cost := math.Abs(s.p.Costs()[j])
	size := cost + math.Abs(part)
	for e, q := range rows {
		size += math.Abs(values[e] * s.lambda[q])
	}
	sh.dual = max(sh.dual, math.Abs(d)/(1+cost))
	sh.slip += math.Abs(d * s.x[j])
	if math.Abs(d) > 1e-12*size {
		sh.bound = math.Inf(-1)
		sh.estimate += d * s.x[j]
	}
}

func (s *Solver) spread(act []float64, rows []uint32, values []float64, x float64) {
	for e, q := range rows {
		if i := s.shape.index[q]; i >= 0 {
			act[i] += values[e] * x
		}
	}
}

func (s *pricing) blockDual(sh *share, cols []uint32, b block) float64 {
	k, lows, ups := &sh.k, s.p.Lows(), s.p.Ups()
	k.coef, k.rowLow, k.rowUp = sh.a, b.low, b.up
	k.low, k.up = sized(k.low, len(cols)), sized(k.up, len(cols))
	for c, j := range cols {
		k.low[c], k.up[c] = lows[j], ups[j]
	}
	mu, kinks := k.dual(sh.r, sh.kinks)
	sh.kinks = kinks
	return mu
}

func over(v, low, up float64) float64 {
	worst := 0.0
	if low > math.Inf(-1) {
		worst = max(worst, (low-v)/(1+math.Abs(low)))
	}
	if up < math.Inf(1) {
		worst = max(worst, (v-up)/(1+math.Abs(up)))
	}
	return worst
}
