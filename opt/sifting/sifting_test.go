package sifting_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/lp/lptest"
	"github.com/oxgang/oxgang/opt/sifting"
)

// A counter counts the columns that its solver is given.
type counter struct {
	lp.Solver

	calls, cols int
}

func (c *counter) Solve(ctx context.Context, p *lp.Problem) (*lp.Solution, error) {
	c.calls++
	c.cols += p.Cols()
	return c.Solver.Solve(ctx, p)
}

func fresh(t interface{ Fatal(args ...any) }, tolerance float64) (*sifting.Solver, *counter) {
	o := exact.DefaultOptions()
	o.Method = exact.Simplex
	inner, err := exact.New(o)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{Solver: inner}
	s, err := sifting.New(c, tolerance)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func needsExact(t *testing.T) {
	t.Helper()
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
}

func TestConformance(t *testing.T) {
	needsExact(t)
	lptest.Run(t, func() lp.Solver { s, _ := fresh(t, 1e-8); return s }, lptest.Exact)
}

// Each family, of any seed, is solved, and x and y prove it.
func TestFamilies(t *testing.T) {
	needsExact(t)
	for _, f := range lptest.Families() {
		t.Run(f.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.IntRange(max(f.Sizes[0]/3, 4), f.Sizes[0]).Draw(t, "size")
				p := f.Build(rapid.Uint64().Draw(t, "seed"), size)
				s, _ := fresh(t, 1e-6)
				out, err := s.Solve(t.Context(), p)
				if err != nil || out.Status != lp.Optimal {
					t.Fatalf("%v (error %v), want optimal", out.Status, err)
				}
				if err := lptest.Certify(p, out.X, out.Y, 1e-6); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// assignment returns the family that has many columns.
func assignment() *lp.Problem {
	for _, f := range lptest.Families() {
		if f.Name == "assignment" {
			return f.Build(1, 60)
		}
	}
	panic("no such family")
}

// The restricted programs of 3,600 columns have a fifth of them, and after a little has changed one is enough.
func TestSolve_sees_few_columns_and_starts_from_them(t *testing.T) {
	needsExact(t)
	p := assignment()
	s, c := fresh(t, 1e-6)
	if _, err := s.Solve(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if mean := c.cols / c.calls; c.calls < 2 || mean > p.Cols()/5 {
		t.Errorf("%d programs of %d columns, want several of at most %d", c.calls, mean, p.Cols()/5)
	}
	*c = counter{Solver: c.Solver}
	again, err := s.Solve(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if c.calls != 1 || again.Status != lp.Optimal {
		t.Errorf("unchanged: %d programs, %v; want one, optimal", c.calls, again.Status)
	}
}

// Columns that were removed and others that took their place do not stay in the working
// set or in the answer.
func TestSolve_after_edits(t *testing.T) {
	needsExact(t)
	rapid.Check(t, func(t *rapid.T) {
		p := &lp.Problem{}
		row, err := p.AddRow(1, lp.Inf)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := fresh(t, 1e-6)
		var cols []lp.Col
		for range rapid.IntRange(1, 30).Draw(t, "edits") {
			if len(cols) > 1 && rapid.Bool().Draw(t, "remove") {
				k := rapid.IntRange(0, len(cols)-1).Draw(t, "which")
				if err := p.RemoveCols(cols[k]); err != nil {
					t.Fatal(err)
				}
				cols = append(cols[:k], cols[k+1:]...)
			} else {
				cost := float64(rapid.IntRange(1, 50).Draw(t, "cost"))
				col, err := p.AddCol(cost, 0, 1, lp.RowEntry{Row: row, Value: 1})
				if err != nil {
					t.Fatal(err)
				}
				cols = append(cols, col)
			}
			best := math.Inf(1)
			for _, c := range cols {
				best = min(best, p.Costs()[c.Index()])
			}
			out, err := s.Solve(t.Context(), p)
			if err != nil || out.Status != lp.Optimal || math.Abs(out.Objective-best) > 1e-6 {
				t.Fatalf("%+v (error %v), want %v", out, err, best)
			}
		}
	})
}

func TestNew_tolerance(t *testing.T) {
	for _, bad := range []float64{0, 2, math.NaN()} {
		if _, err := sifting.New(nil, bad); err == nil {
			t.Errorf("tolerance %v: no error", bad)
		}
	}
}
