// Package portfolio solves a linear program by the solver that its shape suits, and says
// by which (lp.Solution.Method).
//
// Where HiGHS is built in (opt/exact):
//
//	copter    few rows couple many columns: rounds of jobs
//	sifting   many more columns than rows: transport, assignment, load balancing
//	simplex   few coefficients, or few in each column: networks, periods. A basis is then
//	          nearly triangular
//	ipm       all others: covers, packings, regressions, on which simplex takes many steps
//
// An answer of copter or ipm that is not within the tolerance is not taken: simplex
// solves the program then. Elsewhere copter solves all.
//
// The rules look at the number of rows, columns and coefficients, and of coupling rows (docs/adr/0050).
// What they cost beside the best of HiGHS' simplex and PDLP is in docs/solvers.md.
package portfolio
