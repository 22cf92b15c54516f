// Package pollux is Pollux: it chooses GPUs and batch sizes of all jobs together, by goodput,
// and searches for the best placement of every GPU. It knows one GPU type. On clusters of
// several types it is the baseline of Sia, adapted as Sia §3.4.3 says.
//
//	§4.1    GOODPUT_j(A_j), with the best batch size     goodput, perf.BestBatch
//	§4.1    at most twice the most GPUs it ever had      Options.Growth, round.most
//	§4.2    SPEEDUP_j = GOODPUT_j(A_j) / GOODPUT_j(a_f)  seat.speedup, seat.fair
//	§4.2    a_f, an exclusive 1/J of the cluster         round.fairShare
//	§4.2    FITNESS_p, the power mean of speedups        round.fitness, Options.P
//	§4.2    REALLOC_FACTOR_j(δ) = (T - R δ) / (T + δ)    reallocFactor
//	§4.2.1  a matrix of GPUs by job and node             breed
//	§4.2.1  mutation, crossover, tournaments             round.mutate, breed
//	§4.2.1  repair, at most one distributed job a node   round.repair
//	Sia §3.4.3  virtual nodes of equal size              cut
//	Sia §3.4.3  one type for jobs that mix them          round.trim
//
// In a round, what is pinned or reserved is taken off the cluster. The search goes on from the
// matrices of the last round. A job that mixes GPU types then keeps only the type it has most
// of; its other GPUs stay idle.
//
// An Autoscaler is "Pollux with Autoscaling", the baseline of BOA, on nodes that are rented:
//
//	BOA §6.1    cluster efficiency, Σ speedups / GPUs       Policy.efficiency, belief.overOne
//	BOA §6.1    c and Δ = min{.3(1 - c), .3c}               AutoscaleOptions.Target, .band
//	BOA §6.1    increased, decreased                        Autoscaler.resize
//	BOA §6.1    the size with efficiency closest to c       Autoscaler.closest, bisect
//	as coded    the mean of two rounds leaves c ± Δ         AutoscaleOptions.Cycles, Autoscaler.mean
//	as coded    2 to 40 nodes                               AutoscaleOptions.Least, cluster.Offer.Most
//	as coded    the target is frozen until reached          Autoscaler.growing
//	as coded    of fewer nodes those in use are kept        rentedNodes.order, rentedNodes.view
//
// Its round is one of Pollux on the nodes that are to stay. If efficiency is then out of its
// band, it looks for another number of nodes, and needs a search for each number that it tries.
// BOA (§5.4) measured 4.39 s for a round of Pollux and 23.58 s with autoscaling; here, with 100
// generations and 40 jobs, it is 0.3 s on 160 GPUs, and 2.5 to 3.7 s where the size changes
// (BenchmarkAutoscale, one core of an AMD EPYC).
//
// A job's speed is that on one GPU type, whichever it gets: the first it ever ran on,
// as in the public simulator, where the first profile seen wins. Nothing is profiled before.
//
// Where the paper leaves a choice open, this follows the public code: jobs are served by
// attained service where a node has too few GPUs, every speedup has 0.001 added, so that jobs
// that wait do not make all matrices equal, a start is discounted as a move is, and no job has
// more GPUs than the smallest type has.
//
// Deviation: mutation is the public code's (rows return to what the job has, elements
// become zero, free GPUs are given out), not the paper's (each element is redrawn with
// probability 1/N), because published figures were made with code of that kind.
//
// Deviation: the number of nodes is not a second objective, because the cluster's size is
// given; an Autoscaler tries one size after the other.
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
// Deviation: on other nodes than in the last round, jobs that the search moved to as many
// GPUs of as many virtual nodes stay where they are, and others start elsewhere, because the
// search may end before it finds that: in TestNobodyMovesThatCanStay with the default options
// two jobs would move for nothing.
//
// Deviation: of several groups of nodes that can be rented only the first is scaled, and the
// others stay as they are, because Pollux knows one kind of node.
//
// Deviation: there are never fewer nodes than a job needs that could run on the most there
// can be, nor than the reservations, because a job that cannot run adds no efficiency, and
// would wait for ever.
//
// Deviation: efficiencies of a cluster of another size, or from before a search for the
// size, do not count in the mean, because they say nothing of the nodes there are.
//
// Deviation: the target is frozen no longer where the provider refuses, or no jobs are left,
// because there is nothing to wait for.
//
// Deviation: the size is searched for on the side of the mean only, beginning with the size
// there is, because the paper says when to increase and when to decrease it.
//
// Deviation: the more powerful of two types, between which a job is split evenly, is the
// one that it is believed to be faster on, because no order of types is given.
package pollux
