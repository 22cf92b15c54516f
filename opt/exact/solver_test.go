package exact_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// solver returns a solver, or skips where there is none.
func solver(t testing.TB, change func(*exact.Options)) *exact.Solver {
	t.Helper()
	o := exact.DefaultOptions()
	if change != nil {
		change(&o)
	}
	s, err := exact.New(o)
	if errors.Is(err, exact.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// build returns the problem of rows (low, up) and columns (cost, low, up, and a
// coefficient for each row).
func build(t testing.TB, rows [][2]float64, cols ...[]float64) (*lp.Problem, []lp.Col) {
	t.Helper()
	p := &lp.Problem{}
	var handles []lp.Row
	for _, side := range rows {
		r, err := p.AddRow(side[0], side[1])
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, r)
	}
	var all []lp.Col
	for _, c := range cols {
		var entries []lp.RowEntry
		for i, v := range c[3:] {
			entries = append(entries, lp.RowEntry{Row: handles[i], Value: v})
		}
		col, err := p.AddCol(c[0], c[1], c[2], entries...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, col)
	}
	return p, all
}

func solve(t testing.TB, s *exact.Solver, p *lp.Problem) *lp.Solution {
	t.Helper()
	out, err := s.Solve(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*(1+math.Abs(b)) }

var inf = lp.Inf

// diet is min 3x + 2y, x + y >= 4, x + 3y >= 6, y <= 3: x = 1, y = 3, dual 3.
func diet(t testing.TB) (*lp.Problem, []lp.Col) {
	return build(t, [][2]float64{{4, inf}, {6, inf}}, []float64{3, 0, inf, 1, 1}, []float64{2, 0, 3, 1, 3})
}

func TestSolver_duals_have_the_sign_of_the_package(t *testing.T) {
	for _, method := range []exact.Method{exact.Choose, exact.Simplex, exact.InteriorPoint, exact.PDLP} {
		s := solver(t, func(o *exact.Options) { o.Method = method })
		p, _ := diet(t)
		out := solve(t, s, p)
		if out.Status != lp.Optimal || !near(out.Objective, 9) || !near(out.Bound, 9) || !near(out.Y[0], 3) || !near(out.Y[1], 0) {
			t.Errorf("%s: got %+v, want 9 with duals 3 and 0", method, out)
		}
	}
}

func TestSolver_interior_point_without_crossover(t *testing.T) {
	s := solver(t, func(o *exact.Options) { o.Method, o.NoCrossover, o.NoPresolve = exact.InteriorPoint, true, true })
	// Every point of x + y = 1 is optimal: an interior point stays in the middle.
	p, _ := build(t, [][2]float64{{1, 1}}, []float64{1, 0, 1, 1}, []float64{1, 0, 1, 1})
	if out := solve(t, s, p); !near(out.Objective, 1) || out.X[0] < 0.1 || out.X[0] > 0.9 {
		t.Errorf("got %+v, want a point between the vertices", out)
	}
}

func TestSolver_holes_are_left_out(t *testing.T) {
	s := solver(t, nil)
	p, cols := diet(t)
	r, _ := p.AddRow(1, 1)
	c, _ := p.AddCol(-100, 0, 1, lp.RowEntry{Row: r, Value: 1})
	later, err := p.AddCol(1, 2, 5)
	if err := errors.Join(err, p.RemoveRow(r), p.RemoveCols(c)); err != nil {
		t.Fatal(err)
	}
	out := solve(t, s, p)
	if !near(out.Objective, 11) || !near(out.Value(cols[1]), 3) || !near(out.Value(later), 2) || out.X[c.Index()] != 0 || out.Y[r.Index()] != 0 {
		t.Errorf("got %+v, want 11, and 0 in holes", out)
	}
}

func TestSolver_integers(t *testing.T) {
	s := solver(t, nil)
	// max 5x + 4y, 6x + 4y <= 24, x + 2y <= 6: 21 at (3, 1.5); 20 at (4, 0) in integers.
	p, cols := build(t, [][2]float64{{-inf, 24}, {-inf, 6}}, []float64{-5, 0, inf, 6, 1}, []float64{-4, 0, inf, 4, 2})
	p.Offset = 100
	if out := solve(t, s, p); !near(out.Objective, 79) || !near(out.Bound, 79) {
		t.Errorf("got %+v, want 79", out)
	}
	for _, c := range cols {
		if err := p.SetInteger(c, true); err != nil {
			t.Fatal(err)
		}
	}
	out := solve(t, s, p)
	if out.Status != lp.Optimal || !near(out.Objective, 80) || !near(out.Bound, 80) || out.Y != nil || out.X[0] != 4 || out.X[1] != 0 {
		t.Errorf("got %+v, want 80 at 4, 0, without duals", out)
	}
}

func TestSolver_infeasible(t *testing.T) {
	s := solver(t, nil)
	for name, p := range map[string]*lp.Problem{
		"two rows":   first(build(t, [][2]float64{{3, inf}, {-inf, 1}}, []float64{1, 0, inf, 1, 2}, []float64{-1, 0, inf, 1, 1})),
		"one bound":  first(build(t, [][2]float64{{3, inf}}, []float64{1, 0, 1, 1}, []float64{-1, -inf, 1, 1})),
		"no columns": first(build(t, [][2]float64{{3, inf}})),
		"equalities": first(build(t, [][2]float64{{1, 1}, {3, 3}}, []float64{0, -inf, inf, 1, 2}, []float64{0, -inf, inf, 1, 2})),
	} {
		out := solve(t, s, p)
		if out.Status != lp.Infeasible || !lp.CheckInfeasible(p, out.Ray) || out.Bound != inf {
			t.Errorf("%s: got %+v, want infeasible with a proof", name, out)
		}
	}
	// 2x + 4y = 3 has rational solutions, but no integer ones: no ray proves that.
	p, cols := build(t, [][2]float64{{3, 3}}, []float64{1, 0, 9, 2}, []float64{1, 0, 9, 4})
	if err := errors.Join(p.SetInteger(cols[0], true), p.SetInteger(cols[1], true)); err != nil {
		t.Fatal(err)
	}
	if out := solve(t, s, p); out.Status != lp.Infeasible || out.Ray != nil {
		t.Errorf("got %+v, want infeasible without a ray", out)
	}
}

func TestSolver_unbounded(t *testing.T) {
	s := solver(t, nil)
	for name, p := range map[string]*lp.Problem{
		"a column without rows": first(build(t, nil, []float64{-1, 0, inf})),
		"a direction of two":    first(build(t, [][2]float64{{-1, 2}}, []float64{-2, 0, inf, 1}, []float64{1, 0, inf, -1})),
		"a free column":         first(build(t, [][2]float64{{-inf, 2}}, []float64{1, -inf, inf, 1})),
	} {
		out := solve(t, s, p)
		if out.Status != lp.Unbounded || !lp.CheckUnbounded(p, out.Ray) || out.PrimalResidual > 1e-9 {
			t.Errorf("%s: got %+v, want unbounded with a proof and a feasible point", name, out)
		}
	}
	// Unbounded if it were feasible: infeasible.
	p, _ := build(t, [][2]float64{{1, inf}, {-inf, 0}}, []float64{0, 0, inf, 1, 1}, []float64{-1, 0, inf})
	if out := solve(t, s, p); out.Status != lp.Infeasible || !lp.CheckInfeasible(p, out.Ray) {
		t.Errorf("got %+v, want infeasible", out)
	}
}

func first(p *lp.Problem, _ []lp.Col) *lp.Problem { return p }

func TestSolver_limits(t *testing.T) {
	s := solver(t, func(o *exact.Options) { o.Method, o.MaxIterations, o.NoPresolve = exact.Simplex, 1, true })
	p := transport(t, 20, 20)
	if out := solve(t, s, p); out.Status != lp.Limited || len(out.X) != p.ColSlots() || out.Bound > out.Objective && out.PrimalResidual < 1e-9 {
		t.Errorf("got status %v, bound %v, objective %v", out.Status, out.Bound, out.Objective)
	}
}

// transport ships from n places to m at costs that differ.
func transport(t testing.TB, n, m int) *lp.Problem {
	t.Helper()
	p := &lp.Problem{}
	var rows []lp.Row
	for i := range n + m {
		low, up := 0.0, float64(m)
		if i >= n {
			low, up = float64(n), inf
		}
		r, err := p.AddRow(low, up)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	for i := range n {
		for j := range m {
			cost := float64((i*7+j*11)%13 + 1)
			if _, err := p.AddCol(cost, 0, inf, lp.RowEntry{Row: rows[i], Value: 1}, lp.RowEntry{Row: rows[n+j], Value: 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p
}

func TestSolver_threads_and_goroutines_do_not_matter(t *testing.T) {
	p := transport(t, 12, 9)
	want := solve(t, solver(t, nil), p).Objective
	var all sync.WaitGroup
	for threads := range 6 {
		s := solver(t, func(o *exact.Options) { o.Threads = 1 + threads%3 })
		all.Go(func() {
			for range 3 {
				if out, err := s.Solve(context.Background(), p); err != nil || !near(out.Objective, want) {
					t.Errorf("%d threads: %v, %v, want %v", 1+threads%3, out, err, want)
				}
			}
		})
	}
	all.Wait()
}

func TestSolver_ended_context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, _ := diet(t)
	out, err := solver(t, nil).Solve(ctx, p)
	if err != nil || out.Status != lp.Interrupted || len(out.X) != 2 || out.Bound > 9 {
		t.Errorf("got %+v, %v, want interrupted", out, err)
	}
}

func TestOptions_Validate(t *testing.T) {
	o := exact.Options{Method: "guess", Tolerance: 1e-12, MIPGap: math.NaN(), MaxIterations: -1}
	want := `method "guess", want choose, simplex, ipm or pdlp
tolerance 1e-12, want 1e-10 to 1
gap NaN, want at least 0
limit of -1 iterations, want at least 0
threads 0, want at least 1`
	if err := o.Validate(); err == nil || err.Error() != want {
		t.Errorf("error %v, want\n%s", err, want)
	}
	if err := exact.DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
}
