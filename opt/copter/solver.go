package copter

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/opt/lp"
)

// A Solver solves a linear program repeatedly while it is edited. Each solve starts from the last values of unchanged
// columns and rows. It implements lp.Solver.
type Solver struct {
	opts  Options
	shape shape
	work  work

	known    bool // a solution is stored
	x        []float64
	colStamp []uint32
	y        []float64
	lambda   []float64 // y of coupling rows, else 0
	act      []float64
	all      bool      // all coupling rows are in the restricted problem
	rowAt    []int32   // by row slot; -1 if not there
	worth    []float64 // approximate cost of a unit
	rho      float64   // weight of the proximal term
	theta    float64   // largest importance in the working set
	strict   float64   // factor of the inner tolerances

	last       pass
	best       pass // has the highest bound
	bestY      []float64
	iterations int
	sweeps     int

	parts    []share
	shareCut []int

	nested bool // solves for a certificate
}

// New returns a solver, or all errors of the options.
func New(o Options) (*Solver, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("copter: %w", err)
	}
	return &Solver{opts: o}, nil
}

// Reset discards the last solution, so that the next solve starts from zero.
func (s *Solver) Reset() { *s = Solver{opts: s.opts, nested: s.nested} }

const warmWeight = 1e-2

// leastSlip is the relative accuracy of a bound, because lp.Bound treats less as rounding.
const leastSlip = 2e-10

const leastStrict = 1e-6

// Solve returns a solution of p within the tolerances; see lp.Solver. The error is always nil. If an unbounded column
// makes a proven bound impossible, Gap is an estimate and Bound is -Inf. The status is Infeasible or Unbounded only
// with a certificate (Solution.Ray).
//
// Time: a few passes over all columns, and some dozens over the working set per proximal step. Memory: 12 bytes per
// column slot, and 100 bytes per column and 12 per coefficient of the working set.
func (s *Solver) Solve(ctx context.Context, p *lp.Problem) (*lp.Solution, error) {
	warm := s.load(p)
	s.rho, s.strict = coldWeight, 1
	if warm {
		s.rho *= warmWeight
	}
	s.iterations, s.sweeps = 0, 0
	s.best = pass{bound: math.Inf(-1), dual: math.Inf(1)}
	s.bestY = append(s.bestY[:0], s.y...)
	out := s.passes(ctx, p, warm)
	s.known = true
	return out, nil
}

func (s *Solver) passes(ctx context.Context, p *lp.Problem, warm bool) *lp.Solution {
	watch := watch{primal: s.opts.Primal}
	for k := range s.opts.Passes {
		got := s.choose(p)
		s.last = got
		if got.bound > s.best.bound || math.IsInf(s.best.bound, -1) && got.dual < s.best.dual {
			s.best = got
			copy(s.bestY, s.y)
		}
		if s.within(got) {
			out := s.finish(p, lp.Optimal)
			proven := out.Gap <= s.opts.Gap && min(s.best.slip, s.last.slip) <= leastSlip*(1+math.Abs(out.Objective))
			switch {
			case proven:
				return out
			case s.strict <= leastStrict: // tighter is rounding
				if out.Gap > s.opts.Gap && !math.IsInf(out.Bound, -1) {
					out.Status = lp.Limited
				}
				return out
			}
			s.strict *= 0.1
		}
		if ctx.Err() != nil {
			return s.finish(p, lp.Interrupted)
		}
		if out := s.certificate(ctx, p, watch.stalled(got, s.far())); out != nil {
			return out
		}
		s.all = k == 0 && !warm
		s.build(p)
		s.restricted(ctx, relativeGap(got.objective, got.estimate))
		s.keep()
	}
	return s.finish(p, lp.Limited)
}

// choose prices all columns, again if the shape is of another problem or the working set's size far off.
func (s *Solver) choose(p *lp.Problem) pass {
	target := min(max(workingSet*p.Rows(), small), p.Cols())
	if target == p.Cols() {
		s.theta = math.Inf(1)
	}
	got := s.price(p, s.theta)
	if got.broken {
		s.shape.reshape(p, false)
		s.splitRows(p)
		s.value(p)
		got = s.price(p, s.theta)
	}
	if got.picked > 4*target || got.picked < target/8 {
		s.theta = s.quantile(target)
		got = s.price(p, s.theta)
	}
	return got
}

func (s *Solver) within(got pass) bool {
	return got.violation <= s.opts.Primal && got.dual <= s.opts.Dual &&
		relativeGap(got.objective, got.estimate) <= s.opts.Gap
}

func relativeGap(objective, bound float64) float64 {
	return math.Abs(objective-bound) / (1 + math.Abs(objective))
}

const roughGap = 0.01

func (s *Solver) restricted(ctx context.Context, outside float64) {
	w := &s.work
	n := newNewton(w)
	primal, dual, gap := 0.5*s.opts.Primal*s.strict, 0.5*s.opts.Dual*s.strict, max(0.3*s.opts.Gap*s.strict, min(0.1*outside, roughGap))
	farFrom, loosest, floor := 1.0, 1e-2, 0.4*primal
	for range s.opts.Outer {
		w.scale = 1 / s.rho
		tolerance := max(floor, min(loosest, 0.1*farFrom))
		loosest *= 0.5
		steps, sweeps := n.solve(ctx, tolerance, s.opts.Steps)
		bound, held := w.bound()
		farFrom = relativeGap(w.objective(), bound)
		residual := w.residual()
		s.iterations++
		s.sweeps += sweeps
		copy(w.center, w.x)
		copy(w.zCenter, w.z)
		if ctx.Err() != nil || residual <= primal && held <= dual && farFrom <= gap {
			return
		}
		if residual <= primal {
			floor *= 0.3
		}
		s.weigh(steps, residual/primal, max(held/dual, farFrom/gap))
		if farFrom < 0.1 && w.thin() {
			return // smaller without the rows that have no price
		}
	}
}

// leastWeight limits rounding, which moves a value by 1e-15/weight.
const leastWeight = 1e-5

// weigh sets the next proximal weight: smaller if steps are easy and the dual is behind, larger after hard steps.
func (s *Solver) weigh(steps int, primal, dual float64) {
	factor := 1.0
	switch {
	case steps > 40:
		factor = 1 / math.Sqrt(shrink)
	case dual <= 1 || dual < primal:
	case steps <= 10:
		factor = shrink
	case steps <= 20:
		factor = math.Sqrt(shrink)
	}
	s.rho = clip(s.rho*factor, leastWeight, 1/leastWeight)
}

// noise is a multiplier that is rounding, relative to its row's unit cost.
const noise = 1e-12

func (s *Solver) keep() {
	w := &s.work
	total := 0.0
	for _, v := range w.center {
		total += v
	}
	for _, v := range w.y {
		total += v
	}
	if math.IsNaN(total) || math.IsInf(total, 0) {
		s.rho = min(s.rho*1e4, 1/leastWeight)
		return
	}
	for c, j := range w.slot {
		s.x[j] = w.center[c]
	}
	for c, i := range w.rowSlot {
		v := w.y[c]
		if math.Abs(v) <= noise*s.worth[s.shape.index[i]] || within(w.z[c], w.rowLow[c], w.rowUp[c], near) ||
			v > 0 && math.IsInf(w.rowLow[c], -1) || v < 0 && math.IsInf(w.rowUp[c], 1) {
			v = 0
		}
		s.y[i] = v
	}
}

// Options are the tolerances and limits of a Solver.
type Options struct {
	Primal  float64 // largest relative violation of a row or bound
	Dual    float64 // largest relative reduced cost of the wrong sign
	Gap     float64 // largest relative distance from the proven bound
	Passes  int     // limit of passes over all columns
	Outer   int     // limit of proximal steps per working set
	Steps   int     // limit of Newton steps per proximal step
	Threads int     // the result does not depend on it
	Polish  bool    // move to a vertex at the end
}

const (
	maxConjugate = 200 // conjugate gradient steps per Newton step
	coldWeight   = 1.0
	shrink       = 0.2 // factor of that weight per step
	workingSet   = 16  // columns per row
)

// DefaultOptions returns tolerances of 1e-4 and one thread.
func DefaultOptions() Options {
	return Options{
		Primal: 1e-4, Dual: 1e-4, Gap: 1e-4, Passes: 60, Outer: 60, Steps: 60,
		Threads: 1,
	}
}

// Validate returns all errors in the options.
func (o Options) Validate() error {
	var errs []error
	inside := func(name string, v, low, high float64) {
		if !(v >= low && v <= high) {
			errs = append(errs, fmt.Errorf("%s %v, want %v to %v", name, v, low, high))
		}
	}
	inside("primal tolerance", o.Primal, 1e-12, 1)
	inside("dual tolerance", o.Dual, 1e-12, 1)
	inside("gap tolerance", o.Gap, 1e-12, 1)
	inside("passes", float64(o.Passes), 1, math.MaxInt32)
	inside("outer steps", float64(o.Outer), 1, math.MaxInt32)
	inside("newton steps", float64(o.Steps), 1, math.MaxInt32)
	inside("threads", float64(o.Threads), 1, 1024)
	return errors.Join(errs...)
}

// Remember lets m save or restore the state that s keeps between rounds.
func (s *Solver) Remember(m *memory.Codec) {
	h := &s.shape
	m.Fields(&s.known, &s.x, &s.colStamp, &s.y, &s.theta, &s.all, &h.kind, &h.stamp, &h.index, &h.rows, &h.blocks, &h.loose, &h.size)
	m.Fields(&s.work.center, &s.work.size)
}
