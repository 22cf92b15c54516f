// Package mmkp solves the multiple-choice multi-dimensional knapsack: items
// that each take at most one of their choices, and a few resources that couple
// them. Almost every allocation problem of the scheduler is one: jobs choose
// configurations, and GPUs of each type couple the jobs.
//
//	maximise    Σᵢ Σⱼ vᵢⱼ xᵢⱼ
//	subject to  Σᵢ Σⱼ aᵢⱼₖ xᵢⱼ ≤ bₖ   for every resource k
//	            Σⱼ xᵢⱼ ≤ 1            for every item i (= 1 if it must)
//	            xᵢⱼ ∈ {0, 1}
//
// Put a price πₖ on every resource and the items come apart: each takes the
// choice of the highest reduced value vᵢⱼ − Σₖ πₖ aᵢⱼₖ on its own, and
//
//	D(π) = Σₖ bₖ πₖ + Σᵢ maxⱼ (vᵢⱼ − Σₖ πₖ aᵢⱼₖ)
//
// is an upper bound for every π ≥ 0.
//
// A [Program] is continual: items are added, set, adjusted and removed, and
// every solve starts from what the last one knew. A [Solver] makes a program of
// a whole [Problem] at once; the code below is the same. One file each:
//
//	build.go      read an item's choices, drop those that another beats
//	store.go      what is kept of them: runs of points, the corners of their hulls
//	program.go    items that come, go and change
//	scan.go       pass over the items: which of them are the core, because their
//	              best choice may change between two prices, and what the others use
//	prices.go     make the core wider until the lowest D is inside
//	internal/core walk down the edges of D, which is convex and piecewise linear
//	round.go      regrets under these prices, and a first feasible solution
//	mend.go       improve it by shifts of up to three items together
//	branch.go     depth-first search over what the regrets leave open
//
// Dictionary: value v, amount a, capacity b, price π, bound D. A choice's
// regret is what it lacks, at the final prices, of its item's best choice. A
// solution's value is D(π) less its regrets less the price of the capacity it
// leaves idle; that identity drives mend and search, and a choice whose regret
// alone exceeds bound − value is out.
//
// The hulls are of the values as given. An item's adjustment, base + factor · v,
// moves no corner: its prices are divided by the factor. "None" and the choice
// that an item keeps are compared with the hulls' corners beside them.
//
// Why the answer is right. Three invariants hold at every moment of a solve. D at the
// best prices seen is an upper bound: that is weak duality, and needs no optimality of
// the prices. The solution in hand is feasible, up to the slack of 1e-10. And the gap
// between them is the sum of the solution's regrets and of the price of what it leaves
// idle. So a choice whose regret is at least the gap is in no better solution, and the
// search may leave it out; if it ends with nothing found, the solution is optimal.
//
// Why it ends. Ranges of prices grow fourfold until the lowest D is inside, and a range
// that reaches the price at which nobody uses the resource is wide enough. The walk
// inside ends as package core says. Mending makes the gap smaller with every shift, and
// tries a bounded number of them. The search is a tree of finite depth. MaxSteps and
// MaxNodes bound walk and search besides, and then the status says Limited.
//
// What a solve costs: a pass over all items of some nanoseconds for each of
// their resources, where a corner is looked at only if a price left the interval
// in which it is best; then the walk, which sees the items of the core, a few
// in a hundred; then mending, which is bounded. The search begins only if at
// most 8,192 options are left whose regret does not rule them out, and the more
// items are open the fewer nodes it has: 2¹⁹ over their number.
//
// Limits are counts, never seconds, and nothing is random: equal calls give
// equal solutions on every machine.
package mmkp
