package lp

import "context"

// A Solver solves linear programs. Solve reads p and does not change it; what it
// keeps between calls (copter: the last solution) is a start, never an answer:
// the result is within its stated gap whatever it keeps. A context that ends
// yields the best found so far with status Interrupted, and no error. Errors are
// for input that no solver could take and for failures of the solver itself.
type Solver interface {
	Solve(ctx context.Context, p *Problem) (*Solution, error)
}

// A Status says what a Solution is.
type Status uint8

// What a solution is.
const (
	Optimal     Status = iota // within the solver's tolerances
	Limited                   // best found when an iteration limit was reached
	Interrupted               // best found when the context ended
	Infeasible                // no x meets the rows; Ray proves it
	Unbounded                 // the objective falls without end; Ray proves it
)

// String returns "optimal", "limited", "interrupted", "infeasible" or "unbounded".
func (s Status) String() string {
	return [...]string{"optimal", "limited", "interrupted", "infeasible", "unbounded"}[s]
}

// A Solution belongs to its caller. X and Y are indexed by Col.Index and
// Row.Index; holes are 0.
type Solution struct {
	Status    Status
	X         []float64 // primal, by column index
	Y         []float64 // dual, by row index; see the package comment; nil from an integer program
	Objective float64   // of X, with the offset
	Bound     float64   // proven: no feasible x is lower
	// PrimalResidual is the largest violation of a row or bound by X, relative to
	// 1 + the size of its side; DualResidual the largest reduced cost of the wrong
	// sign, relative to 1 + the size of its cost.
	PrimalResidual, DualResidual float64
	Gap                          float64 // |Objective - Bound| / (1 + |Objective|)
	// Ray is the certificate of Infeasible (by row: row multipliers under which
	// no x meets the rows, see CheckInfeasible) or of Unbounded (by column: a
	// direction, see CheckUnbounded). Nil where the solver has none.
	Ray        []float64
	Iterations int // of the solver's outer kind
	Sweeps     int // of its inner kind: passes over the (active) columns
}

// Value returns the value of a column.
func (s *Solution) Value(c Col) float64 { return s.X[c.slot] }

// Dual returns the dual of a row.
func (s *Solution) Dual(r Row) float64 { return s.Y[r.slot] }
