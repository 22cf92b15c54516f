package lp

// A Column is read-only, until the next edit.
type Column struct {
	Cost, Low, Up float64
	Integer       bool
	Rows          []uint32 // Row.Index, unsorted, unique
	Values        []float64
}

// HasCol reports whether index j has a column.
func (p *Problem) HasCol(j int) bool { return p.colStamp[j]&1 == 1 }

// HasRow reports whether index i has a row.
func (p *Problem) HasRow(i int) bool { return p.rowStamp[i]&1 == 1 }

// ColStamp distinguishes successive columns at index j. It is odd while there is one.
func (p *Problem) ColStamp(j int) uint32 { return p.colStamp[j] }

// RowStamp is ColStamp for rows.
func (p *Problem) RowStamp(i int) uint32 { return p.rowStamp[i] }

// Column returns the column at index j; zeros for a hole.
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

// Entries returns the coefficients of column j, as in Column, for inner loops.
func (p *Problem) Entries(j int) (rows []uint32, values []float64) {
	return p.matrix.column(uint32(j))
}

// Costs returns the costs by column, 0 in holes. Read the slice only, until the next edit.
func (p *Problem) Costs() []float64 { return p.cost }

// Lows returns the columns' lower bounds; see Costs.
func (p *Problem) Lows() []float64 { return p.low }

// Ups returns the columns' upper bounds; see Costs.
func (p *Problem) Ups() []float64 { return p.up }

// Sides returns the sides of row i; infinite for a hole.
func (p *Problem) Sides(i int) (low, up float64) {
	if !p.HasRow(i) {
		return -Inf, Inf
	}
	return p.side[i].low, p.side[i].up
}

// RowCols returns the ascending columns of row i, until the next edit. It may sort, so it is not safe for
// concurrent use.
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
