// Package copter solves linear programs that change a little from one solve to
// the next, and starts each from the last solution.
//
// Source: thesis §4.3.2, "Factorization-free, efficiently warm-started LP
// solvers": a proximal point method outside, blocks of coordinates inside, an
// active set, no factorisation of the matrix.
//
//	minimise    c'x
//	subject to  A x = z, rows' sides around z, columns' bounds around x
//
// One proximal step from the centre x̄ (and z̄) minimises
//
//	c'x + ρ/2 Σⱼ (xⱼ − x̄ⱼ)²/gⱼ + ρ/2 Σᵢ (zᵢ − z̄ᵢ)²/hᵢ   subject to  A x = z,
//
// and its result is the next centre. The steps end at a solution of the linear
// program, from any centre; the nearer the centre, the fewer they are.
//
// What happens in a call:
//
//	load.go      keep x and y of the columns and rows that stayed
//	shape.go     split the rows: blocks, which share no column, and coupling rows
//	price.go     a pass over all columns: reduced costs, the bound that y proves,
//	             the residuals of x, and the working set: columns that are in use
//	             or might come to be
//	build.go     the restricted problem: those columns, and the coupling rows that
//	             hold or might
//	solver.go    proximal steps on it; then the next pass, until primal residual,
//	             dual residual and gap are all within their tolerances
//	newton.go    one proximal step: the dual is a concave function of the coupling
//	             rows' multipliers y with a continuous slope z − A x(y), maximised
//	             by Newton steps whose equations conjugate gradients solve
//	work.go      x(y): block by block, the exact minimiser over the block's columns
//	block.go     a block is a knapsack: bounds and one row; one multiplier solves it
//	finish.go    repair: packing rows come back to their sides, to rounding
//	polish.go    if asked: on to a vertex, where few values are inside their bounds
//	certify.go   problems that do not converge: a Farkas ray or a direction
//
// Dictionary: x, y, c, A as in opt/lp; the thesis' x_{t-1}* is Solver.x; ρ is the
// proximal weight Solver.rho; gⱼ and hᵢ are work.give and work.zGive, sizes of a
// value per unit of its cost, so that units do not matter; active set: working
// set; multipliers of block rows: mu.
//
// Invariants. Every pass over all columns ends with a bound that the multipliers y prove,
// whatever y is: that is weak duality. The best bound seen, and its y, are kept. A
// solution is called optimal only if a pass over all columns, and not only over the
// working set, finds both residuals and the gap within their tolerances.
//
// Why it ends. A proximal step is the minimum of a strictly convex function, so it exists
// and is unique. An exact step moves the centre no farther from any solution of the
// restricted problem, and exact steps converge to one. The steps here are solved to
// tolerances that shrink from step to step. When the
// restricted problem is solved, a pass over all columns either finds the solution within
// tolerance, or finds columns and rows that the working set lacks, and adds them. A
// problem without a solution has no such limit: certify.go notices that the violation
// does not fall, or that a column without a bound is far out, and looks for a
// certificate, once of each sort. Options bound passes and steps besides; then the status
// is Limited.
//
// What it costs: a pass is linear in the coefficients of all columns. A proximal step
// costs some Newton steps, and each of these some products of conjugate gradients with
// the working set's matrix, which are linear in its coefficients. No matrix is factored.
//
// Deviation: coordinates are minimised in blocks, and the coupling rows'
// multipliers move together by Newton's method, because single coordinates of
// the augmented Lagrangian see one another only through the few coupling rows,
// each of which holds 10^3 to 10^6 columns: the more columns a row has, the less
// a step in one of them may do. Blocks leave 7 multipliers of a round with
// 5 million columns, and 1,790 of a network with 627,256 paths.
//
// Deviation: gradients of the dual are smooth in y without a penalty, because
// activities are variables z with a proximal term of their own; a row that does
// not hold keeps no price once z is where the activity is.
//
// Deviation: the proximal weight falls while the gap lags behind the primal
// residual and the last step was easy, and rises when it was not, because the
// thesis gives no rule.
//
// Deviation: certificates of problems without a solution come from a second
// program (least violation; steepest direction in the cone of directions that
// meet nothing), because a direction in which multipliers diverge is one only in
// the limit, and a certificate must be exact.
//
// Everything is deterministic: chunks of work depend on the problem, not on the
// number of threads, and are added up in order.
package copter
