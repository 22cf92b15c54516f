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
// is an upper bound for every π ≥ 0. Solve works in four steps, one file each:
//
//	frontier.go   drop choices that are worse and dearer than another
//	prices.go     walk down the edges of D, which is convex and piecewise
//	              linear, to its lowest vertex: vertex.go says where the walk
//	              is, edges.go which edge leads down, line.go how far
//	round.go      regrets under these prices, and a first feasible solution
//	branch.go     depth-first search over what the regrets leave open
//
// Dictionary: value v, amount a, capacity b, price π, bound D. A choice's
// regret is what it lacks, at the final prices, of its item's best choice. A
// solution's value is D(π) less its regrets less the price of the capacity it
// leaves idle; that identity drives the search, and a choice whose regret alone
// exceeds bound − value is out.
//
// Limits are counts, never seconds, and nothing is random: equal problems give
// equal solutions on every machine.
package mmkp
