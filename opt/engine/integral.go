package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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

// Integral returns a Maker of engines that call solve, an exact knapsack solver, in each round, and remember nothing. An
// exact solver has no dual prices: the engine "price" computes them for the same round.
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

// A Weight is the fraction of an item that a relaxed solution assigns to one of its choices.
type Weight struct {
	Choice int
	X      float64 // above 0, at most 1
}

// Tiny is the tolerance within which a fraction counts as 0 or 1.
const Tiny = 1e-6

const slack = 1e-10

// Shim rounds a fractional solution, given as weights by item, to one choice per item. Each item gets its choice of
// highest weight that still fits, or -1. take reports whether a choice fits, and if it does subtracts it from the
// capacity. must marks items that need a choice. Shim sorts the weights in place. It takes O(n log n).
//
// Source: thesis §4.4.1, "Applying COpter". Deviation: items that must be served choose first, then items by their
// highest weight, because the thesis names no order, and a divided item could take the resources of a complete one.
func Shim(weights [][]Weight, must func(item int) bool, take func(item, choice int) bool) []int {
	order, pick := make([]int, len(weights)), make([]int, len(weights))
	for i, w := range weights {
		order[i], pick[i] = i, -1
		slices.SortStableFunc(w, func(a, b Weight) int { return cmp.Compare(b.X, a.X) })
	}
	rank := func(i int) float64 {
		switch {
		case must != nil && must(i):
			return 2
		case len(weights[i]) == 0:
			return 0
		}
		return min(1, weights[i][0].X)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(b), rank(a)) })
	for _, i := range order {
		for _, w := range weights[i] {
			if take(i, w.Choice) {
				pick[i] = w.Choice
				break
			}
		}
	}
	return pick
}

func divided(weights [][]Weight) int {
	n := 0
	for _, own := range weights {
		if slices.ContainsFunc(own, func(w Weight) bool { return w.X > Tiny && w.X < 1-Tiny }) {
			n++
		}
	}
	return n
}

func (b *book) shim(weights [][]Weight) ([]int, error) {
	left := make([]float64, len(b.capacity))
	for k, amount := range b.capacity {
		left[k] = amount * (1 + slack)
	}
	for i := range weights {
		if b.entries[i].must { // any choice that fits
			for j := range b.entries[i].choices {
				weights[i] = append(weights[i], Weight{Choice: j})
			}
		}
	}
	pick := Shim(weights, func(i int) bool { return b.entries[i].must }, func(i, j int) bool {
		return b.entries[i].worth(j) && b.take(i, j, left)
	})
	for i, j := range pick {
		if j < 0 && b.entries[i].must {
			return nil, fmt.Errorf("item %d must be served, but none of its choices fits: %w", i, mmkp.ErrLimit)
		}
	}
	return pick, nil
}
