// Package copter is COpter, a solver of linear programs that change a little from one solve to the next.
//
// Source: thesis §4.3.2, "Factorization-free, efficiently warm-started LP solvers": a proximal point method
// outside, blocks of coordinates inside, an active set, no factorisation of the matrix.
//
//	minimise    c'x
//	subject to  A x = z, rows' sides around z, columns' bounds around x
//
// A proximal step from the centre x̄ (and z̄) minimises
//
//	c'x + ρ/2 Σⱼ (xⱼ − x̄ⱼ)²/gⱼ + ρ/2 Σᵢ (zᵢ − z̄ᵢ)²/hᵢ   subject to  A x = z,
//
// and its result is the next centre. The steps converge from any centre; a nearer one takes fewer steps.
//
// Dictionary: x, y, c, A as in opt/lp; x_{t-1}*: Solver.x; ρ: Solver.rho; gⱼ and hᵢ: work.give and work.zGive,
// sizes of a value per unit of cost; active set: working set; multipliers of block rows: mu.
//
// Invariants. Every pass over all columns yields a bound that y proves, by weak duality; the best is kept. A
// solution is optimal only if a pass over all columns finds both residuals and the gap within tolerance.
//
// Why it ends. A proximal step has a unique result, because it minimises a strictly convex function. An exact step
// moves the centre no farther from any solution of the restricted problem, and exact steps converge to one. Steps
// are solved to shrinking tolerances. A pass over all columns then confirms the solution, or adds columns and rows
// to the working set. If the violation stalls or an unbounded column is far out, certify.go looks for each
// certificate once. Options limit passes and steps; then the status is Limited.
//
// Cost. A proximal step takes some Newton steps, each some products with the working set's matrix.
//
// Deviation: coordinates are minimised in blocks, and the coupling rows' multipliers move together by Newton's
// method, because a step in a single coordinate can do little in a row of many columns. Blocks leave 7 multipliers
// of a round with 5 million columns.
//
// Deviation: the dual's gradient is smooth in y without a penalty, because activities are variables z with their
// own proximal term.
//
// Deviation: the proximal weight falls while the gap is behind the primal residual, and rises after a hard step,
// because the thesis gives no rule.
//
// Deviation: certificates come from a second program, because diverging multipliers point there only in the limit,
// and a certificate must be exact.
//
// It is deterministic, with any number of threads.
//
// Use: describe the program with opt/lp, call Solve, edit the program, call Solve again (Example). The examples of
// lab/casestudy/rounds, shards and te do this with GPU scheduling, shards of a database and traffic on a network;
// docs/solvers.md compares COpter with other solvers on these, and states where it loses.
package copter
