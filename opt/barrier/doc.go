// Package barrier solves linear programs of time fractions: the part of the time of each of many items on each of
// a few kinds of machines.
//
//	maximise    Σᵢⱼ gᵢⱼ xᵢⱼ   (Best), or the level z   (Level)
//	subject to  Σⱼ rᵢⱼ xᵢⱼ ≥ lᵢ   (Best), or ≥ z lᵢ   (Level)   for every item i
//	            Σⱼ xᵢⱼ ≤ 1                                     for every item i
//	            Σᵢ sᵢⱼ xᵢⱼ ≤ cⱼ                                for every kind j
//	            x ≥ 0
//
// Such programs have many optima, because equal items may share the rest in any way; a vertex gives some
// everything and others nothing. The answer here is the point of the central path at Mu: optimal up to Mu per row,
// with the largest product of all distances from rows and bounds. It is unique, and treats equal items equally.
// Without gains it is the analytic centre of the feasible set. Source: Boyd and Vandenberghe, Convex Optimization,
// §8.5.3, §11.2.
//
// The method is the primal-dual one of §11.7, from a point inside all rows, so that every iterate is feasible. An
// iteration costs items times kinds cubed; some 30 iterations suffice.
//
// Dictionary: x, z as above. u, v and f are the slacks of an item's time, an item's rate, and a kind's capacity.
// Their duals are q, w and y; p is the dual of x ≥ 0.
package barrier
