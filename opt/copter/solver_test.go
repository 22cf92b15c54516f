package copter_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/lp/lptest"
)

// solver returns a new solver with all tolerances at tol.
func solver(t testing.TB, tol float64, change func(*copter.Options)) *copter.Solver {
	t.Helper()
	o := copter.DefaultOptions()
	o.Primal, o.Dual, o.Gap = tol, tol, tol
	if change != nil {
		change(&o)
	}
	s, err := copter.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	lptest.Run(t, func() lp.Solver { return solver(t, 1e-8, nil) }, lptest.Exact)
}

func TestConformance_loose(t *testing.T) {
	lptest.Run(t, func() lp.Solver { return solver(t, 1e-4, nil) },
		lptest.Tolerances{Objective: 1e-3, Primal: 1e-4, Dual: 1e-4, Gap: 1e-4, Unproven: true})
}

func TestConformance_polished(t *testing.T) {
	lptest.Run(t, func() lp.Solver { return solver(t, 1e-8, func(o *copter.Options) { o.Polish = true }) }, lptest.Exact)
}

func solve(t testing.TB, s lp.Solver, p *lp.Problem) *lp.Solution {
	t.Helper()
	out, err := s.Solve(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A cluster is a round of jobs that choose one of their configurations, which
// take GPUs of one of three types.
type cluster struct {
	t     testing.TB
	p     *lp.Problem
	types []lp.Row
	jobs  [][]lp.Col
	rows  []lp.Row
	draw  *rand.Rand
}

func newCluster(t testing.TB, jobs int) *cluster {
	c := &cluster{t: t, p: &lp.Problem{}, draw: rng.Stream(1, "copter/cluster")}
	for k := range 3 {
		c.types = append(c.types, c.row(float64(jobs*(k+1))))
	}
	for range jobs {
		c.arrive()
	}
	return c
}

func (c *cluster) row(up float64) lp.Row {
	r, err := c.p.AddRow(-lp.Inf, up)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// arrive adds a job.
func (c *cluster) arrive() {
	row := c.row(1)
	var cols []lp.Col
	for _, gpus := range c.types {
		speed, serial := 0.5+c.draw.Float64(), 0.02+0.2*c.draw.Float64()
		for _, n := range []float64{1, 2, 4, 8, 16, 32, 64} {
			value := 1.1 - math.Pow(1+speed*n/(1+serial*(n-1)), -0.5)
			col, err := c.p.AddCol(-value, 0, lp.Inf, lp.RowEntry{Row: row, Value: 1}, lp.RowEntry{Row: gpus, Value: n})
			if err != nil {
				c.t.Fatal(err)
			}
			cols = append(cols, col)
		}
	}
	c.jobs, c.rows = append(c.jobs, cols), append(c.rows, row)
}

func (c *cluster) leave() {
	if err := c.p.RemoveCols(c.jobs[0]...); err != nil {
		c.t.Fatal(err)
	}
	if err := c.p.RemoveRow(c.rows[0]); err != nil {
		c.t.Fatal(err)
	}
	c.jobs, c.rows = c.jobs[1:], c.rows[1:]
}

func TestSolve_agrees_with_exact(t *testing.T) {
	if !exact.Available {
		t.Skip("no exact solver in this build")
	}
	reference, err := exact.New(exact.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, 300)
	s := solver(t, 1e-6, nil)
	for round := range 5 {
		got, want := solve(t, s, c.p), solve(t, reference, c.p)
		if got.Status != lp.Optimal || math.Abs(got.Objective-want.Objective) > 1e-6*(1+math.Abs(want.Objective)) {
			t.Errorf("round %d: %v %v, want %v", round, got.Status, got.Objective, want.Objective)
		}
		for range 3 {
			c.leave()
			c.arrive()
		}
	}
}

// Random programs with a point: more columns than rows, of every kind.
func TestSolve_agrees_with_exact_on_random_programs(t *testing.T) {
	if !exact.Available {
		t.Skip("no exact solver in this build")
	}
	reference, err := exact.New(exact.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		p := random(t, seed, 30, 60)
		got, want := solve(t, solver(t, 1e-6, nil), p), solve(t, reference, p)
		if got.Status != want.Status {
			t.Errorf("seed %d: %v, want %v", seed, got.Status, want.Status)
		}
		if want.Status == lp.Optimal && math.Abs(got.Objective-want.Objective) > 1e-5*(1+math.Abs(want.Objective)) {
			t.Errorf("seed %d: objective %v, want %v", seed, got.Objective, want.Objective)
		}
	}
}

// random returns a program whose rows hold at a random point; some have no
// optimum.
func random(t testing.TB, seed uint64, rows, cols int) *lp.Problem {
	r := rng.Stream(seed, "copter/random")
	p := &lp.Problem{}
	all, act := make([]lp.Row, rows), make([]float64, rows)
	var err error
	for i := range all {
		if all[i], err = p.AddRow(-lp.Inf, lp.Inf); err != nil {
			t.Fatal(err)
		}
	}
	for range cols {
		var entries []lp.RowEntry
		for i, row := range all {
			if r.IntN(5) > 0 {
				continue
			}
			v := math.Exp(r.NormFloat64())
			if r.IntN(3) == 0 {
				v = -v
			}
			entries = append(entries, lp.RowEntry{Row: row, Value: v})
			act[i] += v // at the point of all ones
		}
		bounds := [][2]float64{{0, 2}, {0, 2}, {0, 2}, {0, lp.Inf}, {-lp.Inf, 2}}[r.IntN(5)]
		if _, err := p.AddCol(r.NormFloat64(), bounds[0], bounds[1], entries...); err != nil {
			t.Fatal(err)
		}
	}
	for i, row := range all {
		sides := [][2]float64{{-lp.Inf, act[i]}, {act[i], lp.Inf}, {act[i], act[i] + 1}, {act[i], act[i]}}[r.IntN(4)]
		if err := p.SetRHS(row, sides[0], sides[1]); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestSolve_packing_rows_come_back_feasible(t *testing.T) {
	c := newCluster(t, 200)
	out := solve(t, solver(t, 1e-3, nil), c.p)
	if out.PrimalResidual > 1e-9 {
		t.Errorf("primal residual %v, want at most 1e-9", out.PrimalResidual)
	}
}

// A vertex has at most as many values inside (0, 1) as rows hold: jobs take one
// each, and the three types one more each.
func TestPolish_leaves_few_fractions(t *testing.T) {
	c := newCluster(t, 400)
	plain := solve(t, solver(t, 1e-4, nil), c.p)
	vertex := solve(t, solver(t, 1e-4, func(o *copter.Options) { o.Polish = true }), c.p)
	split := 0
	for _, cols := range c.jobs {
		for _, col := range cols {
			if v := vertex.Value(col); v > 1e-7 && v < 1-1e-7 {
				split++
				break
			}
		}
	}
	if split > len(c.types) {
		t.Errorf("%d jobs with fractions, want at most %d", split, len(c.types))
	}
	if vertex.PrimalResidual > 1e-9 || vertex.Objective > plain.Objective+1e-9 {
		t.Errorf("vertex: residual %v, objective %v, was %v", vertex.PrimalResidual, vertex.Objective, plain.Objective)
	}
}

func TestSolve_is_the_same_for_any_number_of_threads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var want *lp.Solution
	numbers := []int{1, 2, 3, 8}
	if testing.Short() {
		numbers = []int{1, 3}
	}
	for _, threads := range numbers {
		c := newCluster(t, 3000)
		s := solver(t, 1e-5, func(o *copter.Options) { o.Threads = threads })
		solve(t, s, c.p)
		c.leave()
		got := solve(t, s, c.p)
		if want == nil {
			want = got
		} else if !slices.Equal(got.X, want.X) || !slices.Equal(got.Y, want.Y) || got.Bound != want.Bound {
			t.Errorf("%d threads: another solution than with 1", threads)
		}
	}
}

// What is kept is a start and never an answer, even of quite another problem.
func TestSolve_after_another_problem(t *testing.T) {
	s := solver(t, 1e-6, nil)
	solve(t, s, newCluster(t, 50).p)
	for seed := range uint64(5) {
		p := random(t, seed, 10, 20)
		got, want := solve(t, s, p), solve(t, solver(t, 1e-6, nil), p)
		if got.Status != want.Status || got.Status == lp.Optimal && math.Abs(got.Objective-want.Objective) > 1e-5*(1+math.Abs(want.Objective)) {
			t.Errorf("seed %d: %v %v, want %v %v", seed, got.Status, got.Objective, want.Status, want.Objective)
		}
	}
	s.Reset()
	if out := solve(t, s, newCluster(t, 50).p); out.Status != lp.Optimal {
		t.Errorf("after Reset: %v", out.Status)
	}
}

// A warm solve of a problem that did not change takes no step at all, and one of
// a problem that changed little takes few.
func TestSolve_starts_from_the_last_solution(t *testing.T) {
	c := newCluster(t, 1000)
	s := solver(t, 1e-4, nil)
	cold := solve(t, s, c.p)
	same := solve(t, s, c.p)
	if same.Iterations != 0 || same.Status != lp.Optimal {
		t.Errorf("unchanged: %d steps, %v; want none", same.Iterations, same.Status)
	}
	c.leave()
	c.arrive()
	warm := solve(t, s, c.p)
	if warm.Sweeps >= cold.Sweeps {
		t.Errorf("warm: %d sweeps, cold %d", warm.Sweeps, cold.Sweeps)
	}
}

func TestSolve_limits_are_counts(t *testing.T) {
	c := newCluster(t, 100)
	out := solve(t, solver(t, 1e-9, func(o *copter.Options) { o.Passes, o.Outer, o.Steps = 1, 1, 1 }), c.p)
	if out.Status != lp.Limited || math.IsNaN(out.Objective) || out.Bound > out.Objective {
		t.Errorf("%v objective %v bound %v, want limited and a bound", out.Status, out.Objective, out.Bound)
	}
}

func TestOptions_Validate(t *testing.T) {
	if err := copter.DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
	_, err := copter.New(copter.Options{Gap: math.NaN(), Dual: 2})
	for _, want := range []string{"gap tolerance NaN", "dual tolerance 2", "passes 0", "threads 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %s", err, want)
		}
	}
}

// Numbers of very different sizes give no NaN.
func TestSolve_extreme_numbers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := &lp.Problem{}
		number := rapid.SampledFrom([]float64{0, 1, -1, 1e-12, 1e12, -1e9, 1e-200, 1e200, -3})
		var rows []lp.Row
		for range 3 {
			low, up := number.Draw(r, "low"), number.Draw(r, "up")
			row, err := p.AddRow(min(low, up), max(low, up))
			if err != nil {
				r.Fatal(err)
			}
			rows = append(rows, row)
		}
		for range 4 {
			var entries []lp.RowEntry
			for _, row := range rows {
				entries = append(entries, lp.RowEntry{Row: row, Value: number.Draw(r, "a")})
			}
			if _, err := p.AddCol(number.Draw(r, "cost"), -2, 1e15, entries...); err != nil {
				r.Fatal(err)
			}
		}
		s := solver(t, 1e-4, func(o *copter.Options) { o.Passes, o.Outer, o.Steps = 4, 10, 20 })
		out := solve(t, s, p)
		for _, v := range slices.Concat(out.X, out.Y, []float64{out.Objective, out.PrimalResidual, out.DualResidual}) {
			if math.IsNaN(v) {
				r.Fatalf("a NaN in %+v", out)
			}
		}
		if math.IsNaN(out.Bound) {
			r.Fatalf("bound %v", out.Bound)
		}
	})
}
