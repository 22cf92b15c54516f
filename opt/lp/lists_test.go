package lp

import "slices"

// lists is the other way to keep the columns, that of the thesis turned to
// columns: a list of its own for each. It is here to be measured beside store.
// Source: thesis §4.3.2, "List-of-List (LoL) representation".
type lists struct {
	rows   [][]uint32
	values [][]float64
}

func (l *lists) add(col uint32, entries []RowEntry) int {
	for int(col) >= len(l.rows) {
		l.rows, l.values = append(l.rows, nil), append(l.values, nil)
	}
	n := 0
	for _, e := range entries {
		if e.Value != 0 {
			n++
		}
	}
	rows, values := make([]uint32, 0, n), make([]float64, 0, n)
	for _, e := range entries {
		if e.Value != 0 {
			rows, values = append(rows, e.Row.slot), append(values, e.Value)
		}
	}
	l.rows[col], l.values[col] = rows, values
	return n
}

func (l *lists) column(col uint32) (rows []uint32, values []float64) {
	return l.rows[col], l.values[col]
}

func (l *lists) remove(col uint32) { l.rows[col], l.values[col] = nil, nil }

func (l *lists) set(col, row uint32, value float64) bool {
	if k := slices.Index(l.rows[col], row); k >= 0 {
		l.values[col][k] = value
		return false
	}
	l.rows[col], l.values[col] = append(l.rows[col], row), append(l.values[col], value)
	return true
}

func (l *lists) drop(col, row uint32) bool {
	k := slices.Index(l.rows[col], row)
	if k < 0 {
		return false
	}
	last := len(l.rows[col]) - 1
	l.rows[col][k], l.values[col][k] = l.rows[col][last], l.values[col][last]
	l.rows[col], l.values[col] = l.rows[col][:last], l.values[col][:last]
	return true
}

// columns is what store and lists have in common.
type columns interface {
	add(col uint32, entries []RowEntry) int
	column(col uint32) (rows []uint32, values []float64)
	remove(col uint32)
	set(col, row uint32, value float64) bool
	drop(col, row uint32) bool
	pass(y, d []float64)
}

// pass sets d to -A'y. It is written for each of the two, so that neither pays for
// the interface.
func (s *store) pass(y, d []float64) {
	for j := range d {
		sum := 0.0
		rows, values := s.column(uint32(j))
		for k, r := range rows {
			sum -= values[k] * y[r]
		}
		d[j] = sum
	}
}

func (l *lists) pass(y, d []float64) {
	for j := range d {
		sum := 0.0
		rows, values := l.column(uint32(j))
		for k, r := range rows {
			sum -= values[k] * y[r]
		}
		d[j] = sum
	}
}
