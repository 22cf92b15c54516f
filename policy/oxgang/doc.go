// Package oxgang is the policy of this project: each round it chooses, for all jobs
// together, GPU type and count, batch size, CPUs and memory, for a short mean
// completion time, finish-time fairness and a short makespan.
//
// Problem. Package goodput solves Sia's program (Sia §3.3.4, Eq. 3.4) with other
// worths:
//
//	max  Σⱼ wⱼ · ( λ + κⱼ − (mⱼc·Gⱼc / unitⱼ)^p )      one choice c per job j, p < 0
//
// in which the resources are GPUs, CPUs and memory of each GPU type.
//
//	wⱼ     what the job counts beside others (worth.go):
//	       ( rank + slack·n ) · max(1, rho)² · share
//	rank   the jobs with at least as much work left (rank.go): so many end later for each
//	       second by which this one does; for jobs of a fixed GPU count, halfway
//	       to Smith's rule
//	slack  0 to 1: whether all would end later if this job did
//	rho    the finish-time fairness that the job is heading for (Sia Eq. 3.6): who
//	       is treated unfairly counts more, by its square, until it is not
//	share  the weight that a user gives the job
//	mⱼc    what a move leaves of the goodput: 0.9·h / (h + cost), where h is the
//	       time until the job ends there, at most 15 minutes, and cost the restart
//	       and the work that it loses; 1 where the job is, or comes while it
//	       trains (move.go)
//	κⱼ     what it is worth that a job goes on: λ · (0.1 + cost / 15 minutes), and the GPU
//	       time that would be lost; and that it runs at all, if the end of all waits for it (last.go)
//	G      goodput, believed; beliefs are shared by the jobs of a class
//	unit   the job's least goodput, per GPU
//
// What a job has left (left.go) is what it states, else what jobs of its class made
// before they ended, else as much again as it has made; with Options.Sizes it states
// nothing. The package model/perf/remaining estimates it. What is stated is believed as far as statements
// were true (trust.go): each job that ends shows how wrong its own was, and the more they were,
// the more counts what others of the class made. Who nobody stated the work of is ranked by
// the chance that others have more left.
//
// Why rank: in a line of jobs, a second spent on one delays all that end after it.
// The rank counts them. In Sia's objective all jobs count the same, and a long one
// that scales well may delay many short ones.
//
// Why slack: the span is what the rest takes at least, the longest job at its fastest
// or all work on all GPUs. A job whose own path is as long as the span delays the end
// of all by each second that it waits. Its slack is (path / span)^16, times a factor
// that makes one percent of the makespan count as one percent of the mean completion
// time.
//
// The last job. Once no more jobs are expected, those whose path takes all of the rest run before
// others, however short. How fast they run is up to the weights: with a weight that grows as
// much, they swapped GPU types. While jobs keep coming, the end of those that are there is not the end
// of all. So in a cluster that goes on, this counts nothing (last.go).
//
// Why rho: rank and slack together never serve a job that needs the whole cluster
// while others keep coming. Its rho grows without bound as it waits, and so does its
// weight.
//
// Growth. A job begins on up to eight GPUs, and has at most eight times as many in
// the next round: most of what a doubling a round costs is restarts (a ladder of these
// gains is in docs/experiments/oxgang.md).
//
// Loans. Nodes of an inference cluster come while it does not need them, and go back when
// it does: those go whose jobs are fewest, and their jobs are decided about anew as if they
// waited (loans.go). On loan, mⱼc is also T / (T + P·(restart + loss)), where T is the time
// until the job ends, P the part of the nodes that their owners expect to want back until
// then, and the loss all of T without checkpoints.
//
// Jobs without checkpoints. Their κ has, beside what their own delay is worth, the GPU time
// that they would need again at the prices of the last round. The placer does not move
// them, so GPUs may be free and yet not on one node: what had no placement is paused
// (place.go).
//
// Rented nodes. Package boa says how many there are, and within a budget who has them
// (rents.go).
//
// What it assumes. Where a job says nothing, or what cannot be, the plan is made all the same, and Weighed
// says what was taken for granted (assumed.go). Jobs on nodes that are not there are decided about as if they waited.
//
// Priority. Jobs of a higher priority choose first, and each level among what those above it leave; to grow beyond what a job asks
// for is no part of that (levels.go; docs/adr/0056-levels-of-priority.md). Jobs whose rented nodes are on their way go after the others of their
// priority: nobody of these is stopped for them.
//
// What it does not do: it has no window of rounds planned ahead, and does not foresee that a job will change its
// batch size.
package oxgang
