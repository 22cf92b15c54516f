// Package pollux is Pollux: GPUs and batch sizes of all jobs chosen together, by goodput,
// in search of the best way to place every GPU. It knows one GPU type; on clusters of
// several it is the baseline of Sia, made to work there as Sia §3.4.3 says.
//
//	§4.1    GOODPUT_j(A_j), with the best batch size     goodput, perf.BestBatch
//	§4.1    at most twice the most GPUs it ever had      Options.Growth, round.most
//	§4.2    SPEEDUP_j = GOODPUT_j(A_j) / GOODPUT_j(a_f)  seat.speedup, seat.fair
//	§4.2    a_f, an exclusive 1/J of the cluster         round.fairShare
//	§4.2    FITNESS_p, the power mean of speedups        round.fitness, Options.P
//	§4.2    REALLOC_FACTOR_j(δ) = (T - R δ) / (T + δ)    reallocFactor
//	§4.2.1  a matrix of GPUs by job and node             opt/genetic
//	§4.2.1  mutation, crossover, tournaments             round.mutate, opt/genetic
//	§4.2.1  repair, at most one distributed job a node   round.repair
//	Sia §3.4.3  virtual nodes of equal size              cut
//	Sia §3.4.3  one type for jobs that mix them          round.trim
//
// A round: what is pinned or reserved is taken off the cluster, the search goes on from
// the matrices of the last round, jobs that mix GPU types keep the one they have most of,
// and the rest of the others' GPUs stays idle.
//
// A job's speed is that on one GPU type, whichever it gets: the first it ever ran on,
// as in the public simulator, where the first profile seen wins. Nothing is profiled before.
//
// Where the paper leaves it open, the public code's way is taken: jobs are served by
// attained service where a node has too few GPUs, every speedup has 0.001 added, so that
// jobs that wait do not make all matrices equal, a start is discounted as a move is, and
// no job has more GPUs than the smallest type has.
//
// Deviation: mutation is the public code's (rows return to what the job has, elements
// become zero, free GPUs are given out), not the paper's (each element is redrawn with
// probability 1/N), because published figures were made with code of that kind.
//
// Deviation: the number of nodes is no second objective, because the cluster's size is
// given.
//
// Deviation: a search ends when 20 generations found nothing better, where the public code
// has 100 generations always, because most rounds change little. In 120 rounds as in
// BenchmarkRound, with a new job in each, it took 0.4 (5 jobs) and 0.5 (40 jobs) of the time,
// and 118 of its matrices were as fit to 1 %, the others 0.67 and 0.05 times as fit.
// Options.Patience of 0 has all generations.
//
// Deviation: δ is the job's own restart time, where the public code has 30 s for all,
// because it is known.
//
// Deviation: a job that the search leaves waiting beside idle GPUs starts on as few as
// it can, because there is no reason for it to wait.
//
// Deviation: a job that cannot run on any number of GPUs (rigid, several GPUs a replica
// or at least) is kept on one GPU type within the search, because it could not run on
// what is left of it after.
//
// Deviation: the more powerful of two types, between which a job is split evenly, is the
// one that it is believed to be faster on, because no order of types is given.
package pollux
