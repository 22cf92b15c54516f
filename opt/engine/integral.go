package engine

import (
	"context"

	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// A Knapsack is a function that solves a multiple-choice knapsack to a proven optimum.
type Knapsack func(context.Context, *mmkp.Problem) (*mmkp.Solution, error)

type integral struct {
	book
	solve   Knapsack
	problem mmkp.Problem
}

// Integral returns a Maker of engines that solve each round from scratch with solve. Prices of their solutions come
// from the engine "price".
func Integral(solve Knapsack) Maker {
	return priced(func(capacity []float64, _ Options) (Engine, error) {
		b, err := newBook(capacity)
		return &integral{book: b, solve: solve}, err
	})
}

func (e *integral) Set(i int, it mmkp.Item) error { return e.set(i, it) }

func (e *integral) Adjust(i int, a mmkp.Adjustment) error {
	return e.adjust(i, a)
}

func (e *integral) Remove(i int) error { return e.remove(i) }

// Solve implements Engine, perhaps in exponential time.
func (e *integral) Solve(ctx context.Context) (*mmkp.Solution, error) {
	p := &e.problem
	p.Capacity = append(p.Capacity[:0], e.capacity...)
	for len(p.Items) < len(e.entries) {
		p.Items = append(p.Items, mmkp.Item{})
	}
	origin := make([][]int, len(e.entries))
	for i := range e.entries {
		it, x := &p.Items[i], &e.entries[i]
		it.Choices, it.Must = it.Choices[:0], x.must
		for j, c := range x.choices {
			if x.worth(j) {
				c.Value = x.value(j)
				it.Choices = append(it.Choices, c)
				origin[i] = append(origin[i], j)
			}
		}
	}
	s, err := e.solve(ctx, p)
	if err != nil {
		return nil, err
	}
	for i, j := range s.Pick {
		if j >= 0 {
			s.Pick[i] = origin[i][j]
		}
	}
	return s, nil
}

// Exact has exact solvers, for problems that an Engine cannot solve.
type Exact struct {
	Knapsack Knapsack
	Vertex   func() (lp.Solver, error) // returns a solver whose solutions are vertices
}

var exact *Exact

// RegisterExact adds the exact solvers to the program.
func RegisterExact(e Exact) { exact = &e }

// ExactSolvers returns the exact solvers; false if the program does not import opt/exact.
func ExactSolvers() (Exact, bool) {
	if exact == nil {
		return Exact{}, false
	}
	return *exact, true
}
