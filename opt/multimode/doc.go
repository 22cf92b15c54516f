// Package multimode plans a window of rounds: each job picks one of its modes and
// the rounds in which it runs in it.
//
//	maximise    Σⱼ valueⱼ(nⱼ) − Σⱼ againⱼ · (further startsⱼ) − λ · max(Σⱼ loadⱼ(nⱼ), maxⱼ leftⱼ(nⱼ))
//	subject to  in every round, what jobs use of a resource is within its capacity
//
// where nⱼ is in how many rounds job j runs. What a job is worth depends on that
// number alone, and on how often it starts: rounds are alike. So the program comes
// apart in two. Which mode and how many rounds is a multiple-choice knapsack
// (opt/mmkp), with one price for a unit of each resource in any round; which rounds
// is a matter of packing. The last term, a bound on the time that all jobs take,
// couples all jobs: no job may have more than z left, for some z, which only forbids
// small numbers of rounds. The best z is searched for by halving.
//
// Source: Shockwave §6.1, App. G.3, H.
//
//	problem.go  what is to be planned
//	solve.go    halve the interval of z that promises most
//	choose.go   the knapsack for one z
//	place.go    rounds for the numbers of rounds: who runs first, and then best fit
//	room.go     rounds for jobs that lack some: others make room
//	tidy.go     fewer starts: pieces of a job side by side
//	fill.go     nothing idle that a job could use
//
// The bound: dropping starts, and that gangs have to fit in each round, only their
// sum over rounds, leaves the knapsack, and its bound grows with z. So no plan of
// which the longest job has at most b left, and the last term is at least a, is worth
// more than bound(b) − λ·a. Nor is any worth more than the knapsack in which the last
// term is the load, which has a price of λ.
package multimode
