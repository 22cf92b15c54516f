// Package oxgang is the policy of this project. Each round it chooses GPU type and count, batch size, CPUs and memory
// for all jobs together. It aims at a short mean completion time, finish-time fairness and a short makespan.
//
// Problem. Package goodput solves Sia's program (Sia §3.3.4, Eq. 3.4) with other worths:
//
//	max  Σⱼ wⱼ · ( λ + κⱼ − (mⱼc·Gⱼc / unitⱼ)^p )      one choice c per job j, p < 0
//
// The resources are GPUs, CPUs and memory of each GPU type.
//
//	wⱼ     weight (worth.go): ( rank + slack·n ) · max(1, rho)² · share
//	rank   number of jobs with at least as much work left (rank.go)
//	slack  0 to 1: how much a delay of this job delays the end of all
//	rho    expected finish-time fairness (Sia Eq. 3.6); above 1 is unfair
//	share  weight that a user gives the job
//	mⱼc    factor of a move: 0.9·h / (h + cost). h is the time until the job ends
//	       there, at most 15 minutes; cost is the restart and the lost work.
//	       1 for what the job holds, or can resize to while it trains (move.go)
//	κⱼ     bonus for continuing: λ · (0.1 + cost / 15 minutes), and the GPU time
//	       that a preemption wastes; also for running at all, if the end of all
//	       jobs depends on this one (last.go)
//	G      estimated goodput; jobs of a class share estimates
//	unit   the job's least goodput, per GPU
//
// Work left (left.go) is what the job states. Otherwise it is estimated from jobs of its class that ended, or assumed
// to equal the work done. Options.Sizes can ignore statements. Past errors of statements reduce the trust in new ones
// (statements.go).
//
// Why rank: while a job runs, all jobs that end later wait for it, and rank counts them. In Sia's objective all jobs
// count the same, so a long job that scales well may delay many short ones.
//
// Why slack: a lower bound on the time until all jobs end is the longest path, or all work on all GPUs. A job whose
// own path is that long delays the end of all by each second that it waits. Its slack is (path / span)^16. A further
// factor makes one percent of the makespan count as one percent of the mean completion time.
//
// Why rho: rank and slack never serve a job that needs the whole cluster while others keep coming. Its rho, and so
// its weight, grows without bound as it waits.
//
// The last job. Once no more jobs are expected, jobs whose path is the whole remaining time run first, even if others
// are shorter (last.go).
//
// Growth. A job starts on at most eight GPUs, and may grow eightfold in a round. Doubling instead costs more restarts
// (docs/experiments/oxgang.md). The speed of a job that is not measured is assumed proportional to its GPUs, up to its
// request, so it gets its request while GPUs are idle.
//
// Priorities: docs/adr/0056-levels-of-priority.md.
//
// Limits: it does not plan several rounds ahead, and does not predict that a job will change its batch size.
package oxgang
