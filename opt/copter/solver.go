package copter

import (
	"context"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

// A Solver solves linear programs, each from where the last one ended.
// Not safe for concurrent use.
type Solver struct {
	opts  Options
	shape shape
	work  work

	known    bool      // x, y and the shape come from an earlier call
	x        []float64 // by column slot
	colStamp []uint32
	y        []float64 // by row slot
	lambda   []float64 // y of the coupling rows, 0 of blocks
	act      []float64 // by coupling row: activity of x
	all      bool      // all coupling rows are in the restricted problem
	rowAt    []int32   // by row slot: coupling row of the restricted problem, or -1
	worth    []float64 // by coupling row: what a unit of it costs, about
	rho      float64
	theta    float64 // importance up to which columns are in the working set

	shares   []share
	shareCut []int
	trace    func(string, ...any)
}

// New returns a solver, or what is wrong with the options.
func New(o Options) (*Solver, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("copter: %w", err)
	}
	return &Solver{opts: o}, nil
}

// Reset forgets earlier solutions.
func (s *Solver) Reset() { *s = Solver{opts: s.opts, trace: s.trace} }

func (s *Solver) log(format string, args ...any) {
	if s.trace != nil {
		s.trace(format, args...)
	}
}

// Solve solves p.
func (s *Solver) Solve(ctx context.Context, p *lp.Problem) (*lp.Solution, error) {
	warm := s.load(p)
	s.rho = s.opts.Proximal
	if warm {
		s.rho *= 1e-2
	}
	sol := &lp.Solution{Status: lp.Limited}
	target := s.target(p)
	if target >= p.Cols() {
		s.theta = math.Inf(1)
	}
	best := math.Inf(-1)
	for k := 0; k < s.opts.Passes; k++ {
		got := s.price(p, s.theta)
		if got.broken {
			s.shape.reshape(p, false)
			s.cutShares(p)
			got = s.price(p, s.theta)
		}
		if got.picked > 4*target || got.picked < target/8 && got.picked < p.Cols() {
			s.theta = s.quantile(target)
			got = s.price(p, s.theta)
		}
		best = max(best, got.bound)
		gap := math.Abs(got.objective-got.bound) / (1 + math.Abs(got.objective))
		s.log("pass %d: objective %.8g bound %.8g gap %.2e violation %.2e picked %d theta %.2e endless %v", k, got.objective, got.bound, gap, got.violation, got.picked, s.theta, got.endless)
		if got.violation <= s.opts.Primal && gap <= s.opts.Gap && !got.endless {
			sol.Status = lp.Optimal
			break
		}
		s.all = k == 0 && !warm
		s.build(p)
		s.restricted(ctx, sol)
		s.keep()
		if ctx.Err() != nil {
			sol.Status = lp.Interrupted
			break
		}
	}
	s.known = true
	sol.X = append([]float64(nil), s.x...)
	sol.Y = append([]float64(nil), s.y...)
	return sol, nil
}

// target returns how many columns the working set should have.
func (s *Solver) target(p *lp.Problem) int {
	t := max(s.opts.Working*p.Rows(), s.opts.SmallIsAll)
	return min(t, p.Cols())
}

// quantile returns the importance that about n columns are at most, from the
// counts of the last pass.
func (s *Solver) quantile(n int) float64 {
	total := 0
	for b := range buckets {
		for k := range s.shares {
			total += int(s.shares[k].count[b])
		}
		if total >= n {
			return math.Float64frombits(uint64(b+1) << 51)
		}
	}
	return math.Inf(1)
}

// load fits what is kept to the problem, and reports whether it is a start.
func (s *Solver) load(p *lp.Problem) bool {
	warm := s.known
	fresh := make([]int, 0)
	n, m := p.ColSlots(), p.RowSlots()
	for len(s.x) < n {
		s.x, s.colStamp = append(s.x, 0), append(s.colStamp, 0)
	}
	s.x, s.colStamp = s.x[:n], s.colStamp[:n]
	lows, ups := p.Lows(), p.Ups()
	for j := range s.x {
		if stamp := p.ColStamp(j); s.colStamp[j] != stamp {
			s.x[j], s.colStamp[j] = 0, stamp
		}
		s.x[j] = clip(s.x[j], lows[j], ups[j])
	}
	for len(s.y) < m {
		s.y = append(s.y, 0)
	}
	s.y = s.y[:m]
	for i := range s.y {
		if i >= len(s.shape.stamp) || s.shape.stamp[i] != p.RowStamp(i) {
			s.y[i] = 0
		}
	}
	_ = fresh
	s.shape.reshape(p, warm)
	s.lambda = sized(s.lambda, m)
	s.cutShares(p)
	s.value(p)
	return warm
}

// cutShares cuts the blocks for pricing.
func (s *Solver) cutShares(p *lp.Problem) {
	loose := (len(s.shape.loose) + looseChunk - 1) / looseChunk
	n := min(max(p.Nonzeros()/(100_000+8*len(s.shape.rows)), 1), 32)
	s.shares = sized(s.shares, n)
	s.shareCut = append(s.shareCut[:0], 0)
	done := 0
	all := len(s.shape.blocks) + loose
	for b := range all {
		if b < len(s.shape.blocks) {
			done += len(p.RowCols(int(s.shape.blocks[b])))
		} else {
			done += looseChunk
		}
		if len(s.shareCut) < n && done*n >= p.Cols()*len(s.shareCut) {
			s.shareCut = append(s.shareCut, b+1)
		}
	}
	for len(s.shareCut) <= n {
		s.shareCut = append(s.shareCut, all)
	}
}

// value estimates what a unit of each coupling row costs: the mean cost of its
// columns over their mean coefficient. Of long rows a sample is enough.
func (s *Solver) value(p *lp.Problem) {
	m := len(s.shape.rows)
	s.worth = sized(s.worth, m)
	cost, amount := make([]float64, m), make([]float64, m)
	costs := p.Costs()
	step := max(p.Cols()/1_000_000, 1)
	for j := 0; j < p.ColSlots(); j += step {
		rows, values := p.Entries(j)
		for e, q := range rows {
			if i := s.shape.index[q]; i >= 0 {
				cost[i] += max(math.Abs(costs[j]), 0.1*s.shape.size)
				amount[i] += math.Abs(values[e])
			}
		}
	}
	for i := range s.worth {
		s.worth[i] = s.shape.size
		if amount[i] > 0 {
			s.worth[i] = cost[i] / amount[i]
		}
	}
}

// restricted solves the restricted problem by proximal steps.
func (s *Solver) restricted(ctx context.Context, sol *lp.Solution) {
	w := &s.work
	n := newNewton(w, s.opts.Conjugate)
	gap := 1.0
	for range s.opts.Outer {
		if ctx.Err() != nil {
			return
		}
		w.scale = 1 / s.rho
		tolerance := max(0.2*s.opts.Primal, min(1e-2, 0.1*gap))
		steps, evals := n.solve(tolerance, s.opts.Steps)
		objective, bound := w.objective(), w.bound()
		gap = math.Abs(objective-bound) / (1 + math.Abs(objective))
		res := w.residual()
		sol.Iterations++
		sol.Sweeps += evals
		active, nnz := 0, 0
		for i := range w.z {
			if w.z[i] == w.rowLow[i] || w.z[i] == w.rowUp[i] {
				active++
			}
		}
		for _, i := range w.row {
			if w.z[i] == w.rowLow[i] || w.z[i] == w.rowUp[i] {
				nnz++
			}
		}
		s.log("  active rows %d of %d, nnz %d of %d; matvecs %d", active, len(w.z), nnz, len(w.row), n.matvecs)
		s.log("  rho %.1e: %d steps %d evals, free %d groups %d, objective %.8g bound %.8g gap %.2e residual %.2e (to %.1e)", s.rho, steps, evals, len(n.free), len(n.group), objective, bound, gap, res, tolerance)
		copy(w.center, w.x)
		copy(w.zCenter, w.z)
		if res <= 0.5*s.opts.Primal && gap <= 0.3*s.opts.Gap {
			return
		}
		switch {
		case gap <= 0.3*s.opts.Gap || gap/(0.3*s.opts.Gap) < res/(0.5*s.opts.Primal):
			if steps > 40 {
				s.rho = min(s.rho/math.Sqrt(s.opts.Shrink), 1e8)
			}
		case steps <= 10:
			s.rho = max(s.rho*s.opts.Shrink, 1e-8)
		case steps <= 20:
			s.rho = max(s.rho*math.Sqrt(s.opts.Shrink), 1e-8)
		case steps > 40:
			s.rho = min(s.rho/math.Sqrt(s.opts.Shrink), 1e8)
		}
		if gap < 0.1 && nnz < len(w.row)/2 && len(w.row) > 100_000 {
			return
		}
	}
}

// keep writes the working set's x and y back.
func (s *Solver) keep() {
	w := &s.work
	for c, j := range w.slot {
		s.x[j] = w.center[c]
	}
	for c, i := range w.rowSlot {
		v := w.y[c]
		if within(w.z[c], w.rowLow[c], w.rowUp[c], near) {
			v = 0
		}
		if v > 0 && math.IsInf(w.rowLow[c], -1) || v < 0 && math.IsInf(w.rowUp[c], 1) {
			v = 0
		}
		s.y[i] = v
	}
}
