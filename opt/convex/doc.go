// Package convex finds the widths that make jobs fastest within a budget: separable
// convex programs with one budget, on monotone concave hulls.
//
// A stream of jobs of several classes arrives. A job goes through its class' epochs,
// and each of them runs on as many machines as one likes, its width, at a speed of
// which the budget buys ever less: k machines cost k a unit of time, and work s(k).
// Which widths give the least mean completion time, if only so much may be spent on
// average? Source: BOA §3, §4.
//
//	minimise    Σ ρᵢⱼ/sᵢⱼ(kᵢⱼ)              of a job: Σᵢ λᵢ E[Tᵢ]         (1)
//	subject to  Σ ρᵢⱼ kᵢⱼ/sᵢⱼ(kᵢⱼ) ≤ b,  kᵢⱼ ≥ 1,   ρᵢⱼ = λᵢ E[Xᵢⱼ]
//
// By unit of work, a width costs k/s(k) and takes 1/s(k). In that plane straight
// pieces of s are straight, so that hulls of measured speeds make (1) a knapsack of
// segments: fill them by steepness, and cut the one at which the budget ends. The
// steepness there is the multiplier: what one more unit of budget buys. One sort
// gives the whole frontier, and no solver of convex programs is needed (App. B asks
// for one). Kinds of machines with prices (App. E) are more points in the same plane:
// (7) has the same solution.
//
//	problem.go   points, epochs, classes; the Lagrangian bound
//	hull.go      the least monotone concave function above the points
//	frontier.go  every optimum of (1) and (7); solution.go, that of one budget
//	check.go     what is refused
//
// Dictionary: i Class, j Epoch, k Point.Width, h Point.Kind; λᵢ Class.Rate, E[Xᵢⱼ]
// Epoch.Size, sᵢⱼ Epoch.Points, ρᵢⱼ Rate × Size; c⁽ʰ⁾
// Problem.Prices; b budget; kᵢⱼ of (1) Mix.Width, p⁽ʰ⁾ᵢⱼ
// Mix.Share; E[T] MeanJCT.
//
// Deviation: a share of an epoch's work is at one hull corner and the rest at the
// next, where the paper has a width between the two, because only corners are known
// to be as fast as the hull. Mix.Width is the paper's width.
//
// Deviation: the smallest feasible budget is Frontier.Least, not Σ ρᵢ (§3.2), because
// speedups that are measured can be more than linear.
//
// Deviation: concave means that hulls are, where the paper (§3.2, property 3) asks
// for s(k)/k to fall, because Theorem B.1 needs the former, which does not follow from
// the latter.
//
// Of the paper's proofs: in App. B, β, the inverse of an increasing concave function,
// is increasing and convex ("decreasing" there), and z β(1/z) has the second
// derivative β″(1/z)/z³.
package convex
