//go:build cgo && (linux || darwin) && (amd64 || arm64)

package exact

import (
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

type program struct {
	maximize      bool
	offset        float64
	cost, low, up []float64
	integer       []bool // nil: none
	rowLow, rowUp []float64
	start         []int // by row, in index and value; one more
	index         []int
	value         []float64
}

type naming struct{ cols, rows []int }

func compile(p *lp.Problem) (*program, naming) {
	var names naming
	place := make([]int, p.RowSlots()+1)
	m := &program{offset: p.Offset}
	for i := range p.RowSlots() {
		if p.HasRow(i) {
			place[i] = len(names.rows)
			names.rows = append(names.rows, i)
			low, up := p.Sides(i)
			m.rowLow, m.rowUp = append(m.rowLow, low), append(m.rowUp, up)
		}
	}
	count := make([]int, len(names.rows)+1)
	integers := false
	for j := range p.ColSlots() {
		if !p.HasCol(j) {
			continue
		}
		names.cols = append(names.cols, j)
		c := p.Column(j)
		m.cost, m.low, m.up = append(m.cost, c.Cost), append(m.low, c.Low), append(m.up, c.Up)
		m.integer = append(m.integer, c.Integer)
		integers = integers || c.Integer
		for _, r := range c.Rows {
			count[place[r]+1]++
		}
	}
	if !integers {
		m.integer = nil
	}
	for i := range names.rows {
		count[i+1] += count[i]
	}
	m.start = append([]int(nil), count...)
	m.index, m.value = make([]int, p.Nonzeros()), make([]float64, p.Nonzeros())
	for k, j := range names.cols {
		rows, values := p.Entries(j)
		for e, r := range rows {
			at := count[place[r]]
			count[place[r]]++
			m.index[at], m.value[at] = k, values[e]
		}
	}
	return m, names
}

func (n naming) byColumn(p *lp.Problem, values []float64) []float64 {
	return spread(p.ColSlots(), n.cols, values)
}

func (n naming) byRow(p *lp.Problem, values []float64) []float64 {
	return spread(p.RowSlots(), n.rows, values)
}

func spread(length int, at []int, values []float64) []float64 {
	all := make([]float64, length)
	for k, i := range at {
		all[i] = values[k]
	}
	return all
}

// leastViolation minimises the total violation of m's rows. Unless that is 0, its duals prove infeasibility.
func (m *program) leastViolation() *program {
	v := &program{
		cost: make([]float64, len(m.cost)),
		low:  append([]float64(nil), m.low...), up: append([]float64(nil), m.up...),
		rowLow: m.rowLow, rowUp: m.rowUp,
	}
	slack := func(sign float64) {
		v.index, v.value = append(v.index, len(v.cost)), append(v.value, sign)
		v.cost, v.low, v.up = append(v.cost, 1), append(v.low, 0), append(v.up, lp.Inf)
	}
	for i := range m.rowLow {
		v.start = append(v.start, len(v.index))
		v.index = append(v.index, m.index[m.start[i]:m.start[i+1]]...)
		v.value = append(v.value, m.value[m.start[i]:m.start[i+1]]...)
		if m.rowLow[i] > -lp.Inf {
			slack(1)
		}
		if m.rowUp[i] < lp.Inf {
			slack(-1)
		}
	}
	v.start = append(v.start, len(v.index))
	return v
}

// recession finds the steepest direction in the unit box that meets no bound or row.
func (m *program) recession() *program {
	r := &program{cost: m.cost, start: m.start, index: m.index, value: m.value}
	r.low, r.up = cone(m.low, m.up, 1)
	r.rowLow, r.rowUp = cone(m.rowLow, m.rowUp, math.Inf(1))
	return r
}

func cone(low, up []float64, size float64) (coneLow, coneUp []float64) {
	coneLow, coneUp = make([]float64, len(low)), make([]float64, len(up))
	for i := range low {
		if math.IsInf(low[i], -1) {
			coneLow[i] = -size
		}
		if math.IsInf(up[i], 1) {
			coneUp[i] = size
		}
	}
	return coneLow, coneUp
}
