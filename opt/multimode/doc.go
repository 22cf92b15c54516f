// Package multimode plans a window of rounds: each job picks one of its modes and
// the rounds in which it runs in it.
//
//	maximise    Σⱼ valueⱼ(nⱼ) − Σⱼ againⱼ · (further startsⱼ) − λ · max(Σⱼ loadⱼ(nⱼ), maxⱼ leftⱼ(nⱼ))
//	subject to  in every round, what jobs use of a resource is within its capacity
//
// where nⱼ is the number of rounds in which job j runs. The value of a job depends
// only on that number and on how often it starts: rounds are alike. So the program
// has two parts. The first chooses a mode and a number of rounds for each job: a
// multiple-choice knapsack (opt/mmkp), with one price for a unit of each resource in
// any round. The second chooses the rounds: a packing problem. The last term, a bound
// on the time that all jobs take, couples all jobs. For a given limit z it becomes a
// constraint of each job alone: no job may have more than z left, which only excludes
// small numbers of rounds. The best z is found by halving intervals.
//
// Source: Shockwave §6.1, App. G.3, H.
//
//	problem.go  what is to be planned
//	solve.go    halve the interval of z with the largest bound
//	choose.go   the knapsack for one z
//	place.go    rounds for the chosen numbers of rounds: the first jobs, then best fit
//	room.go     rounds for jobs that lack some: others make room
//	tidy.go     fewer starts: pieces of a job side by side
//	fill.go     no capacity idle that a job could use
//
// # The bound
//
// The knapsack is a relaxation: it leaves out the cost of further starts, and it
// limits the use of a resource only summed over all rounds, and not in each round. A
// larger z allows more, so that the bound of the knapsack grows with z. So a plan in
// which the longest job has at most b left, and whose last term is at least a, is
// worth at most bound(b) − λ·a. No plan is worth more than the knapsack in which the
// load, with a price of λ, replaces the last term, because that term is at least the
// load.
//
// # The search
//
// The search is a branch and bound over z. Invariant: every plan that is better than
// the best one found has its z in one of the open intervals, and each interval has
// the bound above. The interval with the largest bound is halved. One knapsack at
// the middle gives the bound of the lower half, and a plan. The bound of the upper
// half falls because its low end is higher. Halves in which nothing can be better
// than the best plan are dropped.
//
// It ends when the largest bound is within Options.Gap of the best plan, when
// Options.Solves knapsacks have been solved, or when an interval is too narrow to be
// halved. The packing is a heuristic. So the gap need not close, even if every
// interval were searched: what the packing cannot place counts in the bound.
//
// It costs one knapsack of jobs × modes × rounds choices and one packing for each
// halving, at most Options.Solves of them.
package multimode
