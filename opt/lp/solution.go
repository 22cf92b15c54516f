package lp

import "context"

// A Solver solves linear programs. Solve does not change p. State from earlier calls is only a
// starting point. An ended context yields the best solution so far with status Interrupted. Errors
// are for invalid input and for failures of the solver.
type Solver interface {
	Solve(ctx context.Context, p *Problem) (*Solution, error)
}

// A Status is the kind of a Solution.
type Status uint8

const (
	Optimal     Status = iota
	Limited            // best at an iteration limit
	Interrupted        // best when the context ended
	Infeasible         // no x is feasible; Ray proves it
	Unbounded          // the objective falls for ever; Ray proves it
)

// String returns "optimal", "limited", "interrupted", "infeasible" or "unbounded".
func (s Status) String() string {
	return [...]string{"optimal", "limited", "interrupted", "infeasible", "unbounded"}[s]
}

// A Solution belongs to its caller. X and Y are by Col.Index and Row.Index; 0 in holes.
type Solution struct {
	Status                       Status
	X                            []float64 // primal, by column index
	Y                            []float64 // dual, by row index; see the package comment; nil for integer programs
	Objective                    float64   // of X, with the offset
	Bound                        float64   // proven lower bound of all feasible x
	PrimalResidual, DualResidual float64
	Gap                          float64 // |Objective - Bound| / (1 + |Objective|)
	// Ray proves Infeasible (see CheckInfeasible) or Unbounded (see CheckUnbounded). It may be nil.
	Ray        []float64
	Iterations int // outer iterations
	Sweeps     int // inner iterations: passes over the (active) columns
}

// Value returns the value of a column.
func (s *Solution) Value(c Col) float64 { return s.X[c.slot] }

// Dual returns the dual of a row.
func (s *Solution) Dual(r Row) float64 { return s.Y[r.slot] }
