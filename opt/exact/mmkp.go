//go:build cgo && (linux || darwin) && (amd64 || arm64)

package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/bartolsthoorn/gohighs/highs"

	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// Solve returns a proven optimum of a multiple-choice knapsack, without prices and counts. It returns an error if p is
// invalid, mmkp.ErrInfeasible if there is no solution, or an error if ctx ended before HiGHS started. It may take
// exponential time.
func Solve(ctx context.Context, p *mmkp.Problem) (*mmkp.Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, first := knapsack(p)
	r, err := m.run(DefaultOptions())
	switch {
	case err != nil:
		return nil, err
	case r.status == highs.ModelStatusInfeasible:
		return nil, mmkp.ErrInfeasible
	case r.status != highs.ModelStatusOptimal && r.status != highs.ModelStatusModelEmpty:
		return nil, fmt.Errorf("highs: status %v, want Optimal", r.status)
	}
	s := &mmkp.Solution{Pick: make([]int, len(p.Items))}
	for i := range p.Items {
		s.Pick[i] = -1
		for j := range p.Items[i].Choices {
			if r.x[first[i]+j] > 0.5 {
				s.Pick[i] = j
			}
		}
	}
	s.Value, _ = p.Value(s.Pick)
	s.Bound = s.Value
	return s, nil
}

// knapsack has a binary column per choice, and rows per item and resource; first has the items' first columns.
func knapsack(p *mmkp.Problem) (m *program, first []int) {
	m = &program{maximize: true}
	for i := range p.Items {
		item := &p.Items[i]
		first = append(first, len(m.cost))
		if len(item.Choices) == 0 {
			continue
		}
		low := math.Inf(-1)
		if item.Must {
			low = 1
		}
		m.row(len(m.index), low, 1)
		for j := range item.Choices {
			m.index, m.value = append(m.index, len(m.cost)), append(m.value, 1)
			m.cost = append(m.cost, item.Choices[j].Value)
			m.low, m.up, m.integer = append(m.low, 0), append(m.up, 1), append(m.integer, true)
		}
	}
	for k, capacity := range p.Capacity {
		before := len(m.index)
		for i := range p.Items {
			for j := range p.Items[i].Choices {
				if a := p.Items[i].Choices[j].Uses(k); a != 0 {
					m.index, m.value = append(m.index, first[i]+j), append(m.value, a)
				}
			}
		}
		if len(m.index) > before {
			m.row(before, math.Inf(-1), capacity)
		}
	}
	m.start = append(m.start, len(m.index))
	return m, first
}

func (m *program) row(start int, low, up float64) {
	m.start = append(m.start, start)
	m.rowLow, m.rowUp = append(m.rowLow, low), append(m.rowUp, up)
}

func init() {
	var missing error
	if !Available {
		missing = ErrUnavailable
	}
	engine.Register("exact", engine.Integral(Solve), missing)
	engine.Register("lp-exact", engine.Relaxed(func() (lp.Solver, error) { return New(DefaultOptions()) }), missing)
	if Available {
		engine.RegisterExact(engine.Exact{Knapsack: Solve, Vertex: vertex})
	}
}

func vertex() (lp.Solver, error) {
	o := DefaultOptions()
	o.Method = Simplex
	return New(o)
}
