// Package lbfgsb minimises a smooth function of a few variables in a box, by the limited-memory quasi-Newton
// method L-BFGS-B:
//
//	minimise f(x)  subject to  l ≤ x ≤ u
//
// Bounds may be infinite or equal. Each iteration replaces f by a quadratic model around the iterate x, with
// gradient g and approximate Hessian B,
//
//	m(z) = f(x) + g'(z − x) + (z − x)'B(z − x)/2,
//
// follows −g, bent at the walls of the box, to the first local minimum of m (the Cauchy point), minimises m over the
// variables that are at no wall there, and searches along the line to that point until f and its slope have fallen.
//
// Dictionary: iterate x, gradient g, model Hessian B = θI plus updates, Cauchy point, target (the minimiser of m
// in the box), direction d = target − x.
//
// B is a dense matrix of n² memory and 4mn² operations an iteration for m pairs, because this package serves tens
// of variables. It is deterministic. Iterates equal version 3.0 of the authors' code, up to rounding. On a
// function with kinks it stops early, at a point that may depend on rounding.
//
// The papers are Byrd, Lu, Nocedal and Zhu, "A limited memory algorithm for bound constrained optimization", 1995;
// Morales and Nocedal, "Remark on Algorithm 778", 2011; Moré and Thuente, "Line search algorithms with guaranteed
// sufficient decrease", 1994.
package lbfgsb
