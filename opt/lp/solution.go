package lp

import "context"

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
