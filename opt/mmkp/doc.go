// Package mmkp solves the multiple-choice multi-dimensional knapsack: items that each take at most one of their
// choices, and a few resources that couple them. Most allocation problems of the scheduler have this form: jobs
// choose configurations, and GPUs of each type couple the jobs.
//
//	maximise    Σᵢ Σⱼ vᵢⱼ xᵢⱼ
//	subject to  Σᵢ Σⱼ aᵢⱼₖ xᵢⱼ ≤ bₖ   for every resource k
//	            Σⱼ xᵢⱼ ≤ 1            for every item i (= 1 if it must)
//	            xᵢⱼ ∈ {0, 1}
//
// With a price πₖ on every resource the items separate. Each takes the choice of the highest reduced value vᵢⱼ − Σₖ
// πₖ aᵢⱼₖ, and
//
//	D(π) = Σₖ bₖ πₖ + Σᵢ maxⱼ (vᵢⱼ − Σₖ πₖ aᵢⱼₖ)
//
// is an upper bound for every π ≥ 0.
//
// A [Program] is continual: items are added, set, adjusted and removed, and every solve starts from the state of the
// last one. A [Solver] makes a program of a whole [Problem] at once.
//
// Terms: value v, amount a, capacity b, price π, bound D. The regret of a choice is its reduced value below its
// item's best choice, at the final prices. The value of a solution is D(π) minus its regrets minus the price of its
// idle capacity. So a choice whose regret alone exceeds bound − value is in no better solution.
//
// The hulls are computed from the values as given. An item's adjustment, base + factor · v, moves no corner: its
// prices are divided by the factor. "None" and the kept choice are compared with the corners of the hulls.
//
// Why the answer is right. Three invariants hold during a solve. D at the best prices so far is an upper bound, by
// weak duality. The present solution is feasible, up to the slack of 1e-10. The gap between them is the sum of the
// solution's regrets and the price of its idle capacity. So the search may leave out a choice whose regret is at
// least the gap. If it ends without a better solution, the present one is optimal.
//
// Why it ends. Ranges of prices grow fourfold until the lowest D is inside; a range that reaches the price at which
// no item uses the resource is wide enough. The walk inside ends for the reasons in core.go. Each shift of
// mending makes the gap smaller, and their number is bounded. The search is a tree of finite depth. MaxSteps and
// MaxNodes also bound walk and search; the status is then Limited.
//
// Cost. A pass over all items takes some nanoseconds for each of their resources; a corner is evaluated only if a
// price left the interval in which it is best. The walk sees only the core, a few items in a hundred. The search
// begins only if at most 8,192 choices remain, with 2¹⁹ nodes over the number of open items.
//
// Limits are counts, never seconds, and nothing is random: equal calls give equal solutions on every machine.
package mmkp
