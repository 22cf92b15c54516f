package lp

// A Column is a column as a solver reads it. Its slices are the problem's: they
// hold until the next edit and must not be changed.
type Column struct {
	Cost, Low, Up float64
	Integer       bool
	Rows          []uint32 // row indices (Row.Index), in no order, each once
	Values        []float64
}

// HasCol reports whether a column lives at index j.
func (p *Problem) HasCol(j int) bool { return p.colStamp[j]&1 == 1 }

// HasRow reports whether a row lives at index i.
func (p *Problem) HasRow(i int) bool { return p.rowStamp[i]&1 == 1 }

// ColStamp tells the columns that take index j one after another apart: a solver
// that keeps state by index compares stamps. It is odd while a column lives
// there.
func (p *Problem) ColStamp(j int) uint32 { return p.colStamp[j] }

// RowStamp is ColStamp for rows.
func (p *Problem) RowStamp(i int) uint32 { return p.rowStamp[i] }

// Column returns the column at index j; of a hole, zeros.
func (p *Problem) Column(j int) Column {
	c := Column{Cost: p.cost[j], Low: p.low[j], Up: p.up[j]}
	if p.integer != nil {
		c.Integer = p.integer[j]
	}
	if j < len(p.matrix.at) {
		c.Rows, c.Values = p.matrix.column(uint32(j))
	}
	return c
}

// Entries returns the coefficients of the column at index j: row indices and
// values, as in Column. It is the inner loop of solvers.
func (p *Problem) Entries(j int) (rows []uint32, values []float64) {
	return p.matrix.column(uint32(j))
}

// Costs returns the costs by column index; holes have 0. The slice is the
// problem's: to read until the next edit.
func (p *Problem) Costs() []float64 { return p.cost }

// Lows returns the columns' lower bounds; see Costs.
func (p *Problem) Lows() []float64 { return p.low }

// Ups returns the columns' upper bounds; see Costs.
func (p *Problem) Ups() []float64 { return p.up }

// Sides returns the sides of the row at index i; of a hole, infinite ones.
func (p *Problem) Sides(i int) (low, up float64) {
	if !p.HasRow(i) {
		return -Inf, Inf
	}
	return p.side[i].low, p.side[i].up
}

// RowCols returns the indices of the columns with a coefficient in the row at
// index i, ascending. It costs the row, and is the problem's until the next edit.
// The first call after an edit tidies the list: not from two goroutines at once.
func (p *Problem) RowCols(i int) []uint32 {
	p.inRow[i].sweep(p, uint32(i))
	return p.inRow[i].members
}

// Integers returns the number of integer columns.
func (p *Problem) Integers() int {
	n := 0
	for _, is := range p.integer {
		if is {
			n++
		}
	}
	return n
}
