package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// relaxed keeps the relaxation as a linear program: rows for items and resources, a column per choice. Source:
// thesis §4.3.2 (add-request, remove-request, add/remove-resources).
type relaxed struct {
	book
	program   lp.Problem
	solver    lp.Solver
	resources []lp.Row
	items     []columns
	entries   []lp.RowEntry
	weights   [][]Weight
	solution  mmkp.Solution
}

type columns struct {
	row  lp.Row
	cols []lp.Col
}

// Relaxed returns a Maker of engines that solve a problem in two steps: an lp.Solver solves the linear relaxation, and
// Shim rounds the result, so that each item has one choice.
func Relaxed(solver func() (lp.Solver, error)) Maker {
	return func(capacity []float64, _ Options) (Engine, error) {
		b, err := newBook(capacity)
		if err != nil {
			return nil, err
		}
		e := &relaxed{book: b}
		if e.solver, err = solver(); err != nil {
			return nil, err
		}
		for _, amount := range capacity {
			r, err := e.program.AddRow(-lp.Inf, amount)
			if err != nil {
				return nil, err
			}
			e.resources = append(e.resources, r)
		}
		return e, nil
	}
}

func (e *relaxed) Set(i int, it mmkp.Item) error {
	if e.has(i) && e.alike(i, it) {
		if err := e.set(i, it); err != nil {
			return err
		}
		return e.price(i)
	}
	if e.has(i) {
		if err := e.Remove(i); err != nil {
			return err
		}
	}
	if err := e.set(i, it); err != nil {
		return err
	}
	return e.add(i)
}

func (e *relaxed) alike(i int, it mmkp.Item) bool {
	x := &e.book.entries[i]
	return x.must == it.Must && slices.EqualFunc(x.choices, it.Choices, func(a, b mmkp.Choice) bool {
		return a.Use == b.Use && slices.Equal(a.More, b.More)
	})
}

func (e *relaxed) add(i int) (err error) {
	for i >= len(e.items) {
		e.items = append(e.items, columns{})
	}
	x, at := &e.book.entries[i], &e.items[i]
	low := -lp.Inf
	if x.must {
		low = 1
	}
	if at.row, err = e.program.AddRow(low, 1); err != nil {
		return err
	}
	at.cols = at.cols[:0]
	for j := range x.choices {
		e.entries = append(e.entries[:0], lp.RowEntry{Row: at.row, Value: 1})
		for k, r := range e.resources {
			if a := x.choices[j].Uses(k); a > 0 {
				e.entries = append(e.entries, lp.RowEntry{Row: r, Value: a})
			}
		}
		c, err := e.program.AddCol(-x.value(j), 0, lp.Inf, e.entries...)
		if err != nil {
			return fmt.Errorf("item %d, choice %d: %w", i, j, err)
		}
		at.cols = append(at.cols, c)
	}
	return nil
}

func (e *relaxed) price(i int) error {
	x := &e.book.entries[i]
	for j, c := range e.items[i].cols {
		if err := e.program.SetCost(c, -x.value(j)); err != nil {
			return err
		}
	}
	return nil
}

func (e *relaxed) Adjust(i int, a mmkp.Adjustment) error {
	if e.has(i) {
		if e.book.entries[i].adjustment == a {
			return nil
		}
	}
	if err := e.adjust(i, a); err != nil {
		return err
	}
	return e.price(i)
}

func (e *relaxed) Remove(i int) error {
	if err := e.remove(i); err != nil {
		return err
	}
	if err := e.program.RemoveCols(e.items[i].cols...); err != nil {
		return err
	}
	e.items[i].cols = e.items[i].cols[:0]
	return e.program.RemoveRow(e.items[i].row)
}

func (e *relaxed) SetCapacity(k int, b float64) error {
	if err := e.book.SetCapacity(k, b); err != nil {
		return err
	}
	return e.program.SetRHS(e.resources[k], -lp.Inf, b)
}

func (e *relaxed) Solve(ctx context.Context) (*mmkp.Solution, error) {
	s, err := e.solver.Solve(ctx, &e.program)
	if err != nil {
		return nil, err
	}
	if s.Status == lp.Infeasible {
		return nil, mmkp.ErrInfeasible
	}
	for len(e.weights) < len(e.items) {
		e.weights = append(e.weights, nil)
	}
	for i := range e.items {
		e.weights[i] = e.weights[i][:0]
		for j, c := range e.items[i].cols {
			if x := s.Value(c); x > Tiny {
				e.weights[i] = append(e.weights[i], Weight{j, x})
			}
		}
	}
	out := &e.solution
	out.Fractional = divided(e.weights)
	if out.Pick, err = e.shim(e.weights); err != nil {
		return nil, err
	}
	out.Value = e.total(out.Pick)
	out.Bound = max(-s.Bound, out.Value)
	out.Gap = gap(out.Value, out.Bound)
	out.Status, out.Iterations = status(s.Status), s.Iterations
	out.Prices = out.Prices[:0]
	for _, r := range e.resources {
		out.Prices = append(out.Prices, max(0, -s.Dual(r)))
	}
	return out, nil
}

func status(s lp.Status) mmkp.Status {
	switch s {
	case lp.Optimal:
		return mmkp.Optimal
	case lp.Interrupted:
		return mmkp.Interrupted
	default:
		return mmkp.Limited
	}
}
