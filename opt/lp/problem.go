package lp

import (
	"errors"
	"fmt"
	"math"
)

// ErrRemoved is returned for a Col or Row that was removed or belongs to another problem.
var ErrRemoved = errors.New("was removed, or is not of this problem")

// Inf stands for an infinite lower or upper limit of a row or column.
var Inf = math.Inf(1)

// A Col identifies a column (variable) of a Problem; the zero value identifies none.
type Col struct{ slot, stamp uint32 }

// Index returns the column's index in Solution.X. After a removal another column may get the index.
func (c Col) Index() int { return int(c.slot) }

// A Row identifies a row (constraint) of a Problem; the zero value identifies none.
type Row struct{ slot, stamp uint32 }

// Index returns the row's index in Solution.Y, below Problem.RowSlots().
func (r Row) Index() int { return int(r.slot) }

// A RowEntry is the coefficient of a new column in one row.
type RowEntry struct {
	Row   Row
	Value float64 // finite; 0 is ignored
}

// A ColEntry is the coefficient of a new row in one column.
type ColEntry struct {
	Col   Col
	Value float64 // finite; 0 is ignored
}

// A Problem is a linear program that can be edited. The zero value is empty. Edits are not safe for concurrent
// use.
type Problem struct {
	// Offset is added to the objective.
	Offset float64

	matrix   store
	cost     []float64 // by slot; 0 in a hole
	low, up  []float64 // by slot; 0 in a hole
	integer  []bool    // by slot; nil: none
	colStamp []uint32  // odd while the slot is in use
	freeCols []uint32

	side     []sides  // by slot; infinite in a hole
	inRow    []colset // by slot: columns with a coefficient
	rowStamp []uint32
	freeRows []uint32

	cols, rows, nonzeros int
	edits                uint64
}

type sides struct{ low, up float64 }

// Cols returns the number of columns.
func (p *Problem) Cols() int { return p.cols }

// Rows returns the number of rows.
func (p *Problem) Rows() int { return p.rows }

// Nonzeros returns the number of coefficients that are not 0.
func (p *Problem) Nonzeros() int { return p.nonzeros }

// ColSlots returns the required length of slices indexed by Col.Index. It counts the indices of removed columns, which
// are unused.
func (p *Problem) ColSlots() int { return len(p.cost) }

// RowSlots returns the length that slices need if Row.Index indexes them. Indices of removed rows stay unused.
func (p *Problem) RowSlots() int { return len(p.side) }

// Edits returns the number of edits so far.
func (p *Problem) Edits() uint64 { return p.edits }

// AddRow adds the constraint low <= sum of the entries <= up, in time proportional to the entries.
func (p *Problem) AddRow(low, up float64, entries ...ColEntry) (Row, error) {
	if err := checkRange(low, up); err != nil {
		return Row{}, fmt.Errorf("row: %w", err)
	}
	for _, e := range entries {
		if err := p.checkCol(e.Col); err != nil {
			return Row{}, err
		}
		if !finite(e.Value) {
			return Row{}, fmt.Errorf("row: column %d: coefficient %v, want finite", e.Col.slot, e.Value)
		}
	}
	if k := repeated(entries, func(e ColEntry) Col { return e.Col }); k >= 0 {
		return Row{}, fmt.Errorf("row: column %d: two coefficients, want one", entries[k].Col.slot)
	}
	r := p.newRow(low, up)
	for _, e := range entries {
		if e.Value != 0 {
			p.put(e.Col.slot, r.slot, e.Value)
		}
	}
	p.edits++
	return r, nil
}

// AddCol adds a variable with its cost, bounds and coefficients, in time proportional to the entries.
func (p *Problem) AddCol(cost, low, up float64, entries ...RowEntry) (Col, error) {
	if err := checkRange(low, up); err != nil {
		return Col{}, fmt.Errorf("column: %w", err)
	}
	if !finite(cost) {
		return Col{}, fmt.Errorf("column: cost %v, want finite", cost)
	}
	for _, e := range entries {
		if err := p.checkRow(e.Row); err != nil {
			return Col{}, err
		}
		if !finite(e.Value) {
			return Col{}, fmt.Errorf("column: row %d: coefficient %v, want finite", e.Row.slot, e.Value)
		}
	}
	if k := repeated(entries, func(e RowEntry) Row { return e.Row }); k >= 0 {
		return Col{}, fmt.Errorf("column: row %d: two coefficients, want one", entries[k].Row.slot)
	}
	c := p.newCol(cost, low, up, entries)
	p.edits++
	return c, nil
}

const few = 16

func repeated[E any, H comparable](entries []E, handle func(E) H) int {
	if len(entries) <= few {
		for i := range entries {
			for j := range i {
				if handle(entries[i]) == handle(entries[j]) {
					return i
				}
			}
		}
		return -1
	}
	seen := make(map[H]bool, len(entries))
	for i := range entries {
		h := handle(entries[i])
		if seen[h] {
			return i
		}
		seen[h] = true
	}
	return -1
}

func (p *Problem) newRow(low, up float64) Row {
	var slot uint32
	if n := len(p.freeRows); n > 0 {
		slot = p.freeRows[n-1]
		p.freeRows = p.freeRows[:n-1]
	} else {
		slot = uint32(len(p.side))
		p.side, p.inRow, p.rowStamp = append(p.side, sides{}), append(p.inRow, colset{}), append(p.rowStamp, 0)
	}
	p.side[slot] = sides{low, up}
	p.rowStamp[slot]++
	p.rows++
	return Row{slot, p.rowStamp[slot]}
}

func (p *Problem) newCol(cost, low, up float64, entries []RowEntry) Col {
	var slot uint32
	if n := len(p.freeCols); n > 0 {
		slot = p.freeCols[n-1]
		p.freeCols = p.freeCols[:n-1]
	} else {
		slot = uint32(len(p.cost))
		p.cost, p.low, p.up = append(p.cost, 0), append(p.low, 0), append(p.up, 0)
		p.colStamp = append(p.colStamp, 0)
		if p.integer != nil {
			p.integer = append(p.integer, false)
		}
	}
	p.cost[slot], p.low[slot], p.up[slot] = cost, low, up
	p.colStamp[slot]++
	p.nonzeros += p.matrix.add(slot, entries)
	for _, e := range entries {
		if e.Value != 0 {
			p.inRow[e.Row.slot].add(slot)
		}
	}
	p.cols++
	return Col{slot, p.colStamp[slot]}
}

// RemoveCols removes columns, in time proportional to their coefficients.
func (p *Problem) RemoveCols(cols ...Col) error {
	for i, c := range cols {
		if err := p.checkCol(c); err != nil {
			for _, done := range cols[:i] {
				p.colStamp[done.slot]--
			}
			return err
		}
		p.colStamp[c.slot]++ // a repeated handle is an error
	}
	for _, c := range cols {
		rows, _ := p.matrix.column(c.slot)
		for _, r := range rows {
			p.inRow[r].stale++
		}
		p.nonzeros -= len(rows)
		p.matrix.remove(c.slot)
		for _, r := range rows {
			p.inRow[r].tidy(p, r)
		}
		p.cost[c.slot], p.low[c.slot], p.up[c.slot] = 0, 0, 0
		if p.integer != nil {
			p.integer[c.slot] = false
		}
		p.freeCols = append(p.freeCols, c.slot)
		p.cols--
	}
	p.edits++
	return nil
}

// RemoveRow removes a row, in time proportional to its coefficients.
func (p *Problem) RemoveRow(r Row) error {
	if err := p.checkRow(r); err != nil {
		return err
	}
	for _, c := range p.inRow[r.slot].members {
		if p.matrix.drop(c, r.slot) {
			p.nonzeros--
		}
	}
	p.inRow[r.slot] = colset{}
	p.side[r.slot] = sides{-Inf, Inf}
	p.rowStamp[r.slot]++
	p.freeRows = append(p.freeRows, r.slot)
	p.rows--
	p.edits++
	return nil
}

// SetCost sets a column's cost.
func (p *Problem) SetCost(c Col, cost float64) error {
	if err := p.checkCol(c); err != nil {
		return err
	}
	if !finite(cost) {
		return fmt.Errorf("column %d: cost %v, want finite", c.slot, cost)
	}
	p.cost[c.slot] = cost
	p.edits++
	return nil
}

// SetBounds sets a column's bounds.
func (p *Problem) SetBounds(c Col, low, up float64) error {
	if err := p.checkCol(c); err != nil {
		return err
	}
	if err := checkRange(low, up); err != nil {
		return fmt.Errorf("column %d: %w", c.slot, err)
	}
	p.low[c.slot], p.up[c.slot] = low, up
	p.edits++
	return nil
}

// SetRHS sets the lower and upper limit of a row; infinite means no limit.
func (p *Problem) SetRHS(r Row, low, up float64) error {
	if err := p.checkRow(r); err != nil {
		return err
	}
	if err := checkRange(low, up); err != nil {
		return fmt.Errorf("row %d: %w", r.slot, err)
	}
	p.side[r.slot] = sides{low, up}
	p.edits++
	return nil
}

// SetCoefficient sets the coefficient of column c in row r; 0 removes it. It takes time proportional to the column.
func (p *Problem) SetCoefficient(r Row, c Col, value float64) error {
	if err := errors.Join(p.checkRow(r), p.checkCol(c)); err != nil {
		return err
	}
	if !finite(value) {
		return fmt.Errorf("row %d, column %d: coefficient %v, want finite", r.slot, c.slot, value)
	}
	switch {
	case value != 0:
		p.put(c.slot, r.slot, value)
	case p.matrix.drop(c.slot, r.slot):
		p.nonzeros--
		p.inRow[r.slot].stale++
		p.inRow[r.slot].tidy(p, r.slot)
	}
	p.edits++
	return nil
}

func (p *Problem) put(col, row uint32, value float64) {
	if p.matrix.set(col, row, value) {
		p.nonzeros++
		p.inRow[row].add(col)
	}
}

// SetInteger sets whether a column must be integral. Solvers of linear programs ignore it.
func (p *Problem) SetInteger(c Col, integer bool) error {
	if err := p.checkCol(c); err != nil {
		return err
	}
	if p.integer == nil && integer {
		p.integer = make([]bool, len(p.cost))
	}
	if p.integer != nil {
		p.integer[c.slot] = integer
	}
	p.edits++
	return nil
}

func (p *Problem) checkCol(c Col) error {
	if int(c.slot) >= len(p.colStamp) || p.colStamp[c.slot] != c.stamp || c.stamp&1 == 0 {
		return fmt.Errorf("column %d %w", c.slot, ErrRemoved)
	}
	return nil
}

func (p *Problem) checkRow(r Row) error {
	if int(r.slot) >= len(p.rowStamp) || p.rowStamp[r.slot] != r.stamp || r.stamp&1 == 0 {
		return fmt.Errorf("row %d %w", r.slot, ErrRemoved)
	}
	return nil
}

func checkRange(low, up float64) error {
	if math.IsNaN(low) || math.IsNaN(up) || low > up || low == Inf || up == -Inf {
		return fmt.Errorf("range %v to %v, want the first at most the second", low, up)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
