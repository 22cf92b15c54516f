//go:build cgo && (linux || darwin) && (amd64 || arm64)

package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/bartolsthoorn/gohighs/highs"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// Available says whether Solve works in this build.
const Available = true

// Solve returns an optimal solution of p, proven with no gap, without prices or
// counts. Capacities hold to 1e-9. Errors: bad numbers in p;
// mmkp.ErrInfeasible; the context's, but only before HiGHS starts: it cannot be
// interrupted, and may take exponential time.
func Solve(ctx context.Context, p *mmkp.Problem) (*mmkp.Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m := newModel(p)
	out, err := m.solve()
	if err != nil {
		return nil, err
	}
	return m.solution(out), nil
}

// model is the program with a binary variable per choice. Every row has entries: the binding loses rows without.
type model struct {
	highs.Model
	problem *mmkp.Problem
	first   []int // column of an item's first choice
}

func newModel(p *mmkp.Problem) *model {
	m := &model{problem: p}
	m.Maximize = true
	for i := range p.Items {
		m.first = append(m.first, len(m.ColCosts))
		m.addItem(i)
	}
	m.addCapacities()
	return m
}

// addItem adds the variables of item i and the row that takes at most one, or
// exactly one.
func (m *model) addItem(i int) {
	item := &m.problem.Items[i]
	if len(item.Choices) == 0 {
		return
	}
	lower := math.Inf(-1)
	if item.Must {
		lower = 1
	}
	row := m.addRow(lower, 1)
	for _, c := range item.Choices {
		m.ConstMatrix = append(m.ConstMatrix, highs.Nonzero{Row: row, Col: len(m.ColCosts), Val: 1})
		m.ColCosts = append(m.ColCosts, c.Value)
		m.ColLower = append(m.ColLower, 0)
		m.ColUpper = append(m.ColUpper, 1)
		m.VarTypes = append(m.VarTypes, highs.Integer)
	}
}

// addCapacities adds a row for every resource that any choice uses.
func (m *model) addCapacities() {
	for k, capacity := range m.problem.Capacity {
		row := -1
		for i := range m.problem.Items {
			for j := range m.problem.Items[i].Choices {
				a := m.problem.Items[i].Choices[j].Uses(k)
				if a == 0 {
					continue
				}
				if row < 0 {
					row = m.addRow(math.Inf(-1), capacity)
				}
				m.ConstMatrix = append(m.ConstMatrix, highs.Nonzero{Row: row, Col: m.first[i] + j, Val: a})
			}
		}
	}
}

func (m *model) addRow(lower, upper float64) int {
	m.RowLower = append(m.RowLower, lower)
	m.RowUpper = append(m.RowUpper, upper)
	return len(m.RowLower) - 1
}

// solve runs HiGHS on one thread, to a gap of 0. Its feasibility jump finds
// nothing that the next step does not, and takes half the time of a small
// program (2.8 instead of 7 ms, median of 34 recorded rounds).
func (m *model) solve() (*highs.Solution, error) {
	out, err := m.Solve(
		highs.WithOutput(false),
		highs.WithThreads(1),
		highs.WithMIPRelGap(0),
		highs.WithMIPAbsGap(0),
		highs.WithBoolOption("mip_heuristic_run_feasibility_jump", false),
		highs.WithFloatOption("mip_feasibility_tolerance", 1e-9),
		highs.WithFloatOption("primal_feasibility_tolerance", 1e-9),
	)
	switch {
	case err != nil:
		return nil, fmt.Errorf("highs: %w", err)
	case out.IsInfeasible():
		return nil, mmkp.ErrInfeasible
	case !out.IsOptimal():
		return nil, fmt.Errorf("highs: status %v, want Optimal", out.Status)
	}
	return out, nil
}

// solution reads the choices whose variable is 1.
func (m *model) solution(out *highs.Solution) *mmkp.Solution {
	s := &mmkp.Solution{Pick: make([]int, len(m.problem.Items))}
	for i := range m.problem.Items {
		s.Pick[i] = -1
		for j := range m.problem.Items[i].Choices {
			if out.Value(m.first[i]+j) > 0.5 {
				s.Pick[i] = j
			}
		}
	}
	s.Value, _ = m.problem.Value(s.Pick)
	s.Bound = s.Value
	return s
}
