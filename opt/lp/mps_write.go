package lp

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteMPS writes a model in free MPS format, so that ReadMPS returns the same
// model without holes; only of a row with two finite sides one may move by a
// rounding, and finite ones of 1e30 and more become infinite. Every name must be one word, not begin with $, and be of one row or
// one column only. It costs the problem.
func WriteMPS(w io.Writer, m *Model) error {
	x := &mpsWriter{w: bufio.NewWriter(w), m: m, p: m.Problem, sign: 1}
	if m.Maximize {
		x.sign = -1
	}
	if err := x.names(); err != nil {
		return err
	}
	x.head()
	x.columns()
	x.rhs()
	x.bounds()
	x.line(mpsEnd)
	return x.w.Flush()
}

type mpsWriter struct {
	w         *bufio.Writer
	m         *Model
	p         *Problem
	sign      float64
	objective string
}

// line writes words, of which the first is empty in a line of data.
func (x *mpsWriter) line(words ...string) {
	x.w.WriteString(strings.Join(words, " "))
	x.w.WriteByte('\n')
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// names checks the names and chooses one for the objective that no row has.
func (x *mpsWriter) names() error {
	if strings.ContainsAny(x.m.Name, "\r\n") {
		return fmt.Errorf("model %q: name of several lines, want one", x.m.Name)
	}
	rows := taken{"row", make(map[string]int, x.p.Rows())}
	for i := range x.p.RowSlots() {
		if err := rows.check(i, x.m.RowName(i), x.p.HasRow(i)); err != nil {
			return err
		}
	}
	cols := taken{"column", make(map[string]int, x.p.Cols())}
	for j := range x.p.ColSlots() {
		if err := cols.check(j, x.m.ColName(j), x.p.HasCol(j)); err != nil {
			return err
		}
	}
	x.objective = x.m.Objective
	if x.objective == "" {
		x.objective = "obj"
		for _, twice := rows.names[x.objective]; twice; _, twice = rows.names[x.objective] {
			x.objective += "_"
		}
	}
	return taken{"objective", rows.names}.check(0, x.objective, true)
}

// taken is the index of each name that is taken, of rows or of columns.
type taken struct {
	what  string
	names map[string]int
}

// check says what is wrong with a name that is used, and notes it.
func (t taken) check(index int, name string, used bool) error {
	if !used {
		return nil
	}
	if len(strings.Fields(name)) != 1 || len(strings.Fields(name)[0]) != len(name) || name[0] == '$' || len(name) > longestLine/8 {
		return fmt.Errorf("%s %d: name %q, want one word that does not begin with $", t.what, index, name)
	}
	if name == "'MARKER'" {
		return fmt.Errorf("%s %d: name %q, want another", t.what, index, name)
	}
	if other, twice := t.names[name]; twice {
		return fmt.Errorf("%s %d: name %q, want another: index %d has it", t.what, index, name, other)
	}
	t.names[name] = index
	return nil
}

// head writes all up to the rows.
func (x *mpsWriter) head() {
	x.line(strings.TrimSpace(mpsName + " " + x.m.Name))
	if x.m.Maximize {
		x.line(mpsSense)
		x.line("", "MAX")
	}
	x.line(mpsRows)
	x.line("", "N", x.objective)
	for i := range x.p.RowSlots() {
		if x.p.HasRow(i) {
			x.line("", x.kind(i).letter, x.m.RowName(i))
		}
	}
}

// A rowKind is a row as a file says it.
type rowKind struct {
	letter   string
	rhs, rng float64
	ranged   bool
}

func (x *mpsWriter) kind(i int) rowKind {
	low, up := x.p.Sides(i)
	switch {
	case low == -Inf && up == Inf:
		return rowKind{letter: "N"}
	case low == up:
		return rowKind{letter: "E", rhs: low}
	case low == -Inf:
		return rowKind{letter: "L", rhs: up}
	case up == Inf:
		return rowKind{letter: "G", rhs: low}
	case low+(up-low) == up:
		return rowKind{"G", low, up - low, true}
	default:
		return rowKind{"L", up, up - low, true}
	}
}

func (x *mpsWriter) columns() {
	x.line(mpsColumns)
	integer, marks := false, 0
	mark := func(to bool) {
		if to == integer {
			return
		}
		integer = to
		x.line("", "M"+strconv.Itoa(marks), "'MARKER'", map[bool]string{true: "'INTORG'", false: "'INTEND'"}[to])
		marks++
	}
	for j := range x.p.ColSlots() {
		if !x.p.HasCol(j) {
			continue
		}
		c := x.p.Column(j)
		mark(c.Integer)
		name := x.m.ColName(j)
		if c.Cost != 0 || len(c.Rows) == 0 {
			x.line("", name, x.objective, number(x.sign*c.Cost))
		}
		for k, r := range c.Rows {
			x.line("", name, x.m.RowName(int(r)), number(c.Values[k]))
		}
	}
	mark(false)
}

func (x *mpsWriter) rhs() {
	x.line(mpsRHS)
	if x.p.Offset != 0 {
		x.line("", "RHS", x.objective, number(-x.sign*x.p.Offset))
	}
	var ranges []int
	for i := range x.p.RowSlots() {
		if !x.p.HasRow(i) {
			continue
		}
		k := x.kind(i)
		if k.rhs != 0 {
			x.line("", "RHS", x.m.RowName(i), number(k.rhs))
		}
		if k.ranged {
			ranges = append(ranges, i)
		}
	}
	if len(ranges) > 0 {
		x.line(mpsRanges)
	}
	for _, i := range ranges {
		x.line("", "RNG", x.m.RowName(i), number(x.kind(i).rng))
	}
}

func (x *mpsWriter) bounds() {
	x.line(mpsBounds)
	for j := range x.p.ColSlots() {
		if !x.p.HasCol(j) {
			continue
		}
		c, name := x.p.Column(j), x.m.ColName(j)
		bound := func(kind string, v ...float64) {
			words := []string{"", kind, "BND", name}
			for _, v := range v {
				words = append(words, number(v))
			}
			x.line(words...)
		}
		switch {
		case c.Low == -Inf && c.Up == Inf:
			bound("FR")
			continue
		case c.Low == c.Up:
			bound("FX", c.Low)
			continue
		case c.Low == -Inf:
			bound("MI")
		case c.Low != 0:
			bound("LO", c.Low)
		}
		switch {
		case c.Up < Inf:
			bound("UP", c.Up)
		case c.Integer && math.IsInf(c.Up, 1):
			bound("PL")
		}
	}
}
