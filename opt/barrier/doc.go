// Package barrier solves linear programs of time fractions: which part of the
// time each of many items has on each of a few kinds of machines.
//
//	maximise    Σᵢⱼ gᵢⱼ xᵢⱼ   (Best), or the level z   (Level)
//	subject to  Σⱼ rᵢⱼ xᵢⱼ ≥ lᵢ   (Best), or ≥ z lᵢ   (Level)   for every item i
//	            Σⱼ xᵢⱼ ≤ 1                                     for every item i
//	            Σᵢ sᵢⱼ xᵢⱼ ≤ cⱼ                                for every kind j
//	            x ≥ 0
//
// Such programs have many optima: items alike may share what is left in any way.
// A vertex gives some of them everything and others nothing. The answer here is
// the point of the central path at Mu: the one optimum, but for Mu per row, at
// which the product of all distances from rows and bounds is largest. It is
// unique, treats items alike alike, and is what an interior point method ends
// near. Without gains it is the analytic centre of all that is feasible.
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
// Dictionary: x, z as above; u, v, f the slacks of the rows of an item's time, an
// item's rate and a kind; the duals of the same are p (of x ≥ 0), q, w, y.
package barrier
