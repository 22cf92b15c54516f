// Package convex finds how many machines each class of jobs should get, so that jobs complete soonest within a
// budget.
//
// Jobs of several classes arrive in a stream. A job goes through its class' epochs. In each it runs on k machines,
// its width, which cost k per unit of time and do work s(k), with falling gains. Equations (1), (6), (7) and
// sections are those in the paper on BOA Constrictor. Source: BOA §3, §4.
//
//	minimise    Σ ρᵢⱼ/sᵢⱼ(kᵢⱼ)              of a job: Σᵢ λᵢ E[Tᵢ]         (1)
//	subject to  Σ ρᵢⱼ kᵢⱼ/sᵢⱼ(kᵢⱼ) ≤ b,  kᵢⱼ ≥ 1,   ρᵢⱼ = λᵢ E[Xᵢⱼ]
//
// Per unit of work, a width costs k/s(k) and takes 1/s(k). Straight pieces of s stay straight, so hulls of
// measured speeds make (1) a knapsack of segments: fill them by steepness, and cut the one at which the budget
// ends. Its steepness is the multiplier: what one more unit of budget buys. One sort gives the whole frontier.
// Kinds of machines with prices (App. E) are more points in the same plane: (7) has the same solution.
//
// A job that starts or changes its width pays for a time without progress (§4.3). At a given multiplier the best
// plan of a class is a shortest path through its epochs. The multiplier of a budget is the slope between two
// neighbouring plans on the lower hull of all plans. It proves a bound for every policy, and a mixture of the two
// plans attains it.
//
// Dictionary: i Class, j Epoch, k Point.Width, h Point.Kind; λᵢ Class.Rate, E[Xᵢⱼ] Epoch.Size, sᵢⱼ Epoch.Points,
// rᵢ Class.Rescale, ρᵢⱼ Rate × Size; c⁽ʰ⁾ Problem.Prices; b budget; {kᵢⱼ} Plan.Widths; kᵢⱼ of (1) Mix.Width,
// p⁽ʰ⁾ᵢⱼ Mix.Share; E[T] MeanJCT; lᵢ len(Epochs), gᵢ glue, b_run run.
//
// Deviation: a share of an epoch's work runs at one hull corner and the rest at the next, because only corners are
// known to be as fast as the hull; the paper has the width in between (Mix.Width).
//
// Deviation: the smallest feasible budget is Frontier.Least, not Σ ρᵢ (§3.2), because measured speedups can be
// more than linear.
//
// Deviation: the cost of a width need not be its price times the width (Problem.Costs), where the paper rents
// machines one by one, because some are rented by the node.
//
// Deviation: concave means concave hulls, where the paper (§3.2, property 3) requires s(k)/k to fall, because
// Theorem B.1 needs the former, which does not follow from the latter.
//
// Errata: in App. B, β is increasing and convex ("decreasing" there), and z β(1/z) has the second derivative
// β″(1/z)/z³.
package convex
