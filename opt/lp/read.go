package lp

import (
	"context"
)

// A Column is a read-only view of one column, valid until the next edit.
type Column struct {
	Cost, Low, Up float64
	Integer       bool
	Rows          []uint32 // Row.Index, unsorted, unique
	Values        []float64
}

// HasCol reports whether index j is in use by a column.
func (p *Problem) HasCol(j int) bool { return p.colStamp[j]&1 == 1 }

// HasRow reports whether index i is in use by a row.
func (p *Problem) HasRow(i int) bool { return p.rowStamp[i]&1 == 1 }

// ColStamp returns a number that changes whenever index j is given to another column. It is odd while the index is in
// use.
func (p *Problem) ColStamp(j int) uint32 { return p.colStamp[j] }

// RowStamp returns a number that changes whenever index i is given to another row; see ColStamp.
func (p *Problem) RowStamp(i int) uint32 { return p.rowStamp[i] }

// Column returns the column at index j; zeros if the index is unused.
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

// Entries returns the row indices and coefficients of column j. It is faster than Column, for inner loops.
func (p *Problem) Entries(j int) (rows []uint32, values []float64) {
	return p.matrix.column(uint32(j))
}

// Costs returns the cost of each column; 0 at unused indices. The slice is read-only and valid until the next
// edit.
func (p *Problem) Costs() []float64 { return p.cost }

// Lows returns the lower bound of each column; see Costs.
func (p *Problem) Lows() []float64 { return p.low }

// Ups returns the upper bound of each column; see Costs.
func (p *Problem) Ups() []float64 { return p.up }

// Sides returns the lower and upper limit of row i; both are infinite if the index is unused.
func (p *Problem) Sides(i int) (low, up float64) {
	if !p.HasRow(i) {
		return -Inf, Inf
	}
	return p.side[i].low, p.side[i].up
}

// RowCols returns the ascending indices of the columns in row i, valid until the next edit. It may sort, so it is
// not safe for concurrent use.
func (p *Problem) RowCols(i int) []uint32 {
	p.inRow[i].sweep(p, uint32(i))
	return p.inRow[i].members
}

// A Solver solves linear programs. It does not change p. Earlier calls affect only the point from which it starts. If
// ctx ends, it returns the best solution so far with status Interrupted.
type Solver interface {
	Solve(ctx context.Context, p *Problem) (*Solution, error)
}

// A Status states whether a Solution is optimal, or why not.
type Status uint8

// The statuses.
const (
	Optimal Status = iota
	Limited
	Interrupted
	Infeasible // proven by Ray
	Unbounded  // proven by Ray
)

func (s Status) String() string {
	return [...]string{"optimal", "limited", "interrupted", "infeasible", "unbounded"}[s]
}

// A Solution is the result of a solve, which the caller may modify. X and Y are 0 at unused indices.
type Solution struct {
	Status                       Status
	X                            []float64 // primal, by column index
	Y                            []float64 // dual, by row index; nil for integer programs
	Objective                    float64
	Bound                        float64 // proven lower bound
	PrimalResidual, DualResidual float64
	Gap                          float64 // |Objective - Bound| / (1 + |Objective|)
	// Ray proves Infeasible (CheckInfeasible) or Unbounded (CheckUnbounded); may be nil.
	Ray        []float64
	Iterations int // outer iterations
	Sweeps     int // inner iterations over the columns
}

// Value returns the value of one column.
func (s *Solution) Value(c Col) float64 { return s.X[c.slot] }

// Dual returns the dual value of one row.
func (s *Solution) Dual(r Row) float64 { return s.Y[r.slot] }
