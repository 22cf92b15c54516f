// Package lp holds linear programs that are edited between solves. An edit costs what it touches.
//
//	minimise    offset + Σⱼ cⱼ xⱼ
//	subject to  rowLowerᵢ ≤ Σⱼ aᵢⱼ xⱼ ≤ rowUpperᵢ   for every row i
//	            colLowerⱼ ≤ xⱼ ≤ colUpperⱼ           for every column j
//	            xⱼ integral                          if the column is integer
//
// Handles of columns and rows stay valid until these are removed. So a caller keeps the handles of
// a job's columns and edits those. Source: thesis §4.3.2, "Differential interface for problem
// updates".
//
// Dictionary: a row's dual y is the rise of the optimum per unit of its side: at least 0 if the
// lower side holds x back, at most 0 if the upper side does; d = c − A'y are the reduced costs. Any
// y gives the bound
//
//	offset + Σᵢ min over the row's sides of yᵢ s + Σⱼ min over the column's bounds of dⱼ x
//
// on the minimum, which Bound computes. A Solution carries its own proof: residuals, bound and gap
// are computed from the problem, not reported by the solver. opt/exact and opt/copter have solvers;
// lptest is their test suite.
package lp
