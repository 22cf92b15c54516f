// Package selfdual solves small linear programs by the interior point method of
// their self-dual embedding, and returns the iterate it ends at.
//
//	minimise c'x  subject to  G x + s = h, s ≥ 0
//
// For optima there are better packages (opt/barrier, opt/exact). This one is for
// replays of programs that were solved by ECOS or CVXOPT where the optimum is not
// unique: what those return then is not a vertex, nor the centre, but where their
// iterates happened to be within tolerance. A feasibility program ends near where
// it began, the least squares of the slacks. To give the same answer one has to go
// the same way: the same scaling of rows and columns, the same start, the same
// steps.
//
// ECOS is that of Domahidi, Chu and Boyd ("ECOS: An SOCP solver for embedded
// systems", ECC 2013), CVXOPT that of Vandenberghe ("The CVXOPT linear and quadratic
// cone program solvers", 2010); the scaling is Ruiz' (RAL-TR-2001-034).
//
//	selfdual.go   program, answer, start
//	iterate.go    one iterate: residuals, steps
//	system.go     the two equations of a step
//	skyline.go    a factorisation for rows of few entries and a few long ones
//
// Dictionary: x, s, z, tau, kappa as in the papers, rx, rz, rt the residuals of the
// embedding's rows, lambda the scaled point, d = s/z the squares of its scaling.
package rules
