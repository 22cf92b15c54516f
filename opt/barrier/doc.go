// Package barrier solves linear programs of time fractions: which part of the
// time each of many items has on each of a few kinds of machines.
//
//	maximise    Σᵢⱼ gᵢⱼ xᵢⱼ   (Best), or the level z   (Level)
//	subject to  Σⱼ rᵢⱼ xᵢⱼ ≥ lᵢ   (Best), or ≥ z lᵢ   (Level)   for every item i
//	            Σⱼ xᵢⱼ ≤ 1                                     for every item i
//	            Σᵢ sᵢⱼ xᵢⱼ ≤ cⱼ                                for every kind j
//	            x ≥ 0
//
// Such programs have many optima: equal items may share the rest in any way. A vertex
// gives some of them everything and others nothing. The answer here is the point of
// the central path at Mu: it is optimal up to Mu per row, and among such points it has
// the largest product of all distances from rows and bounds. It is unique, treats equal
// items equally, and interior point methods end near it. Without gains it is the
// analytic centre of the feasible set.
// Source: Boyd and Vandenberghe, Convex Optimization, §8.5.3, §11.2.
//
// The method is the primal-dual one of §11.7, from a point inside all rows, so
// that every iterate keeps them. Items share only the rows of the kinds and the
// level: an iteration factors one small matrix per item, and one of a row per
// kind and one for the level. It costs items times kinds cubed; some 30 do.
//
//	barrier.go   program, solution, the two questions
//	path.go      iterate, start, the loop
//	report.go    how far the iterate is from its end; what it proves
//	step.go      the Newton step, step lengths
//	factor.go    small factorisations that keep what is nearly free apart from
//	             what is nearly fixed
//
// Dictionary: x, z as above. u, v and f are the slacks of three sorts of rows: an
// item's time, an item's rate, and a kind's capacity. Their duals are q, w and y; p is
// the dual of x ≥ 0.
package barrier
