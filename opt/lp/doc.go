// Package lp holds linear programs that change: a Problem is edited between
// solves, and an edit costs what it touches.
//
//	minimise    offset + Σⱼ cⱼ xⱼ
//	subject to  rowLowerᵢ ≤ Σⱼ aᵢⱼ xⱼ ≤ rowUpperᵢ   for every row i
//	            colLowerⱼ ≤ xⱼ ≤ colUpperⱼ           for every column j
//	            xⱼ integral                          where the column says so
//
// Columns and rows are known by handles that stay valid until they are removed,
// so a caller keeps the handles of a job's columns and edits those: jobs come
// and go, prices and capacities move, and nothing is compiled again.
// Source: thesis §4.3.2, "Differential interface for problem updates".
//
// Dictionary: a row's dual y is the rise of the optimum per unit of its side, so
// it is at least 0 where the lower side holds x back and at most 0 where the
// upper one does; d = c − A'y are the reduced costs; any y gives the bound
//
//	offset + Σᵢ min over the row's sides of yᵢ s + Σⱼ min over the column's bounds of dⱼ x
//
// on the optimum of a minimisation, which Bound computes. A Solver reads the
// Problem and returns a Solution; that one carries its own proof: residuals,
// bound and gap are computed from the problem, not reported by the solver.
//
// Package lptest is the suite for solvers, opt/exact and opt/copter have some.
package lp
