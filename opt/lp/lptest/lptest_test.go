package lptest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/opt/lp"
)

// record is a tb that keeps what it is told.
type record struct{ said []string }

type fatal struct{}

func (r *record) Helper() {}
func (r *record) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *record) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(fatal{})
}

// complaints returns what a check says.
func complaints(check func(t tb)) string {
	r := &record{}
	func() {
		defer func() {
			if e := recover(); e != nil && e != (fatal{}) {
				panic(e)
			}
		}()
		check(r)
	}()
	return strings.Join(r.said, "\n")
}

// one is min 2x, x >= 3, whose optimum is 6 with dual 2.
func one(t *testing.T) (*lp.Problem, *lp.Solution) {
	b := &builder{t: t, p: &lp.Problem{}}
	b.row(3, inf)
	b.col(2, 0, 10, 0, 1)
	s := &lp.Solution{X: []float64{3}, Y: []float64{2}}
	lp.Grade(b.p, s)
	return b.p, s
}

func TestSuite_complains(t *testing.T) {
	s := suite{tol: Exact}
	for want, spoil := range map[string]func(p *lp.Problem, s *lp.Solution){
		"":                       func(*lp.Problem, *lp.Solution) {},
		"status limited":         func(_ *lp.Problem, s *lp.Solution) { s.Status = lp.Limited },
		"objective 8, want 6":    func(p *lp.Problem, s *lp.Solution) { s.X[0] = 4; lp.Grade(p, s) },
		"residuals 0.25 and 0":   func(p *lp.Problem, s *lp.Solution) { s.X[0] = 2; lp.Grade(p, s) },
		"bound 7 above":          func(_ *lp.Problem, s *lp.Solution) { s.Bound = 7 },
		"gap 0.":                 func(p *lp.Problem, s *lp.Solution) { s.Y[0] = 1; lp.Grade(p, s) },
		"residuals 0 and 2":      func(p *lp.Problem, s *lp.Solution) { s.Y[0] = -2; lp.Grade(p, s) },
		"bound 5, but Y proves":  func(_ *lp.Problem, s *lp.Solution) { s.Bound = 5 },
		"but X has 6":            func(_ *lp.Problem, s *lp.Solution) { s.Objective = 5.9 },
		"dual residual 0, but Y": func(_ *lp.Problem, s *lp.Solution) { s.Y[0] = -2 },
		"lengths 2 and 1":        func(_ *lp.Problem, s *lp.Solution) { s.X = append(s.X, 0) },
		"column 0: value +Inf":   func(_ *lp.Problem, s *lp.Solution) { s.X[0] = inf },
		"residual 0, but X has":  func(_ *lp.Problem, s *lp.Solution) { s.X[0] = 2.999 },
	} {
		p, out := one(t)
		spoil(p, out)
		if got := complaints(func(t tb) { s.optimal(t, p, out, 6) }); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSuite_complains_of_false_rays(t *testing.T) {
	s := suite{tol: Exact}
	p, out := one(t)
	out.Status, out.Ray = lp.Infeasible, []float64{1}
	if got := complaints(func(t tb) { s.none(t, p, out, lp.Infeasible) }); !strings.Contains(got, "does not prove") {
		t.Errorf("got %q", got)
	}
	out.Status = lp.Unbounded
	if got := complaints(func(t tb) { s.none(t, p, out, lp.Unbounded) }); !strings.Contains(got, "does not prove") {
		t.Errorf("got %q", got)
	}
	if got := complaints(func(t tb) { s.none(t, p, out, lp.Infeasible) }); !strings.Contains(got, "status unbounded") {
		t.Errorf("got %q", got)
	}
}

// TestPair checks that the random problems are what they say.
func TestPair(t *testing.T) {
	for seed := range 200 {
		b := &builder{t: t, p: &lp.Problem{}}
		d := stream(fmt.Sprint(seed))
		rows, cols := d(0, 9), d(0, 9)
		best := b.pair(d, rows, cols, seed%2 == 0)
		if b.p.Rows() != rows || b.p.Cols() != cols {
			t.Fatalf("%d rows and %d columns, want %d and %d", b.p.Rows(), b.p.Cols(), rows, cols)
		}
		if bound := lp.Bound(b.p, make([]float64, rows)); bound > best+1e-9 {
			t.Errorf("seed %d: bound %v above the optimum %v", seed, bound, best)
		}
	}
}
