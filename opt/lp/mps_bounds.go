package lp

import (
	"math"
	"strings"
)

// bound reads a line of the section BOUNDS: a kind, perhaps the name of a set, a
// column, and a number where the kind has one.
func (m *mpsReader) bound() error {
	f := m.fields
	kind := strings.ToUpper(string(f[0].text))
	valued, want := false, "a column"
	switch kind {
	case "UP", "LO", "FX", "LI", "UI":
		valued, want = true, "a column and a number"
	case "FR", "MI", "PL", "BV":
	default:
		return m.failAt(f[0], "kind of bound %q, want UP, LO, FX, FR, MI, PL, BV, LI or UI", f[0].text)
	}
	var set field
	rest := f[1:]
	switch {
	case len(rest) == 3, !valued && len(rest) == 2:
		set, rest = rest[0], rest[1:]
	case valued && len(rest) == 2, !valued && len(rest) == 1:
	default:
		return m.failAt(f[0], "%d words, want kind %s, perhaps the name of a set, and %s", len(f), kind, want)
	}
	j, known := m.cols[string(rest[0].text)]
	if !known {
		return m.failAt(rest[0], "column %q, want one of COLUMNS", rest[0].text)
	}
	v := 0.0
	if valued {
		var err error
		number := rest[1]
		if v, err = m.number(number, kind == "UP" || kind == "LO"); err != nil {
			return err
		}
		if kind == "UP" && v == -Inf || kind == "LO" && v == Inf || kind[1] == 'I' && v != math.Trunc(v) {
			return m.failAt(number, "bound %s of %q, want one that a column can meet", kind, number.text)
		}
	}
	if err := m.checkSet(set); set.text != nil && err != nil {
		return err
	}
	m.inSet(set)
	m.setBound(j, kind, v)
	return nil
}

// setBound changes the bounds of the column in slot j.
func (m *mpsReader) setBound(j int, kind string, v float64) {
	p, c := m.model.Problem, &m.col[j]
	c.line = m.line
	low, up := kind != "UP" && kind != "UI" && kind != "PL", kind != "LO" && kind != "LI" && kind != "MI"
	switch kind {
	case "UP", "UI":
		p.up[j] = v
		if v < 0 && !c.low {
			p.low[j] = -Inf
		}
	case "LO", "LI":
		p.low[j] = v
	case "FX":
		p.low[j], p.up[j] = v, v
	case "FR":
		p.low[j], p.up[j] = -Inf, Inf
	case "MI":
		p.low[j] = -Inf
	case "PL":
		p.up[j] = Inf
	case "BV":
		p.low[j], p.up[j] = 0, 1
	}
	c.low, c.up = c.low || low, c.up || up
	if kind == "UI" || kind == "LI" || kind == "BV" {
		p.integers()[j] = true
	}
}

// integers returns the marks of integer columns.
func (p *Problem) integers() []bool {
	if p.integer == nil {
		p.integer = make([]bool, len(p.cost))
	}
	return p.integer
}

// finish applies what could not be before the end.
func (m *mpsReader) finish() error {
	p := m.model.Problem
	for i := range m.row {
		low, up := m.row[i].sides()
		if err := p.SetRHS(m.row[i].handle, low, up); err != nil {
			return m.fail(0, "row %q: %w", m.model.RowNames[i], err)
		}
	}
	for j, c := range m.col {
		if !c.low && !c.up && p.integer != nil && p.integer[j] {
			p.up[j] = 1
		}
		if err := checkRange(p.low[j], p.up[j]); err != nil {
			m.line = c.line
			return m.fail(0, "column %q: %w", m.model.ColNames[j], err)
		}
	}
	if m.model.Maximize {
		p.Offset = 0 - p.Offset
		for j := range p.cost {
			p.cost[j] = 0 - p.cost[j]
		}
	}
	return nil
}
