// Package multimode plans a window of rounds: each job gets a mode and the rounds in which it runs.
//
//	maximise    Σⱼ valueⱼ(nⱼ) − Σⱼ againⱼ · (further startsⱼ) − λ · max(Σⱼ loadⱼ(nⱼ), maxⱼ leftⱼ(nⱼ))
//	subject to  in every round, the jobs' use of a resource is within its capacity
//
// for the number nⱼ of rounds of job j. Rounds are alike, so only the number and the starts count. The first part
// chooses modes and numbers of rounds: a multiple-choice knapsack (opt/mmkp), with one price per resource in any
// round. The second part packs the rounds. The last term, a bound on the time of all jobs, couples them. With a
// limit z on the remaining time it becomes a constraint on each job, which excludes small numbers of rounds.
//
// Source: Shockwave §6.1, App. G.3, H.
//
// # The bound
//
// The knapsack is a relaxation: it ignores further starts, and limits a resource only summed over all rounds. A
// larger z allows more, so its bound grows with z. A plan whose longest job has at most b left, and whose last
// term is at least a, is worth at most bound(b) − λ·a. No plan is worth more than the knapsack with a price of λ
// on the load, because the last term is at least the load.
//
// # The search
//
// It is a branch and bound over z. Invariant: every plan better than the best one has its z in an open interval,
// and each interval has the bound above. The interval with the largest bound is halved. A knapsack at the middle
// gives the bound of the lower half, and a plan. The bound of the upper half falls because its low end rises.
// Halves that cannot be better are dropped.
//
// It ends when the largest bound is within Options.Gap of the best plan, after Options.Solves knapsacks, or when
// an interval is too narrow.
package multimode
