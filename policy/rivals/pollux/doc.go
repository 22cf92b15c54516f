// Package pollux is the policy Pollux: a genetic search for the placements and batch sizes of all jobs with which
// their goodput is highest. It is made for one GPU type, and adapted to several as in Sia §3.4.3.
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
// A job has one speed on all GPU types: its speed on the first type it ran on, as in the public simulator.
//
// An Autoscaler is "Pollux with Autoscaling", the baseline of BOA, on rented nodes:
//
//	BOA §6.1    cluster efficiency, Σ speedups / GPUs       Policy.efficiency, belief.overOne
//	BOA §6.1    c and Δ = min{.3(1 - c), .3c}               AutoscaleOptions.Target, .band
//	BOA §6.1    increased, decreased                        Autoscaler.resize
//	BOA §6.1    the size with efficiency closest to c       Autoscaler.closest, bisect
//	as coded    the mean of two rounds leaves c ± Δ         AutoscaleOptions.Cycles, Autoscaler.mean
//	as coded    2 to 40 nodes                               AutoscaleOptions.Least, cluster.Offer.Most
//	as coded    the target is frozen until reached          Autoscaler.growing
//	as coded    nodes in use are kept when it shrinks       rentedNodes.order, rentedNodes.view
//
// Outside its band, it searches for each number of nodes, ten times as long.
//
// Details follow the public code.
//
// Deviation: mutation is the public code's (rows return to present GPUs, elements become zero, free GPUs are
// handed out), not the paper's, because published figures used it.
//
// Deviation: the number of nodes is not a second objective, because the cluster's size is given.
//
// Deviation: a search ends after 20 generations without a better matrix, not after 100, because most rounds change
// little: half the time, and 118 of 120 matrices as fit within 1 %.
//
// Deviation: δ is the job's own restart time, not 30 s, because it is known.
//
// Deviation: a job that the search leaves waiting gets idle GPUs, its fewest, because it has no reason to wait.
//
// Deviation: a job that runs only on some numbers of GPUs has one GPU type within the search, because trimming it
// could leave too few.
//
// Deviation: after a change of nodes, a job stays if its new numbers of GPUs and virtual nodes are the same,
// because the search may miss that.
//
// Deviation: only the first group of rentable nodes is scaled, because Pollux knows one kind.
//
// Deviation: there are always enough nodes for the reservations and for each job that could run on the most nodes,
// because a job that cannot run would wait for ever.
//
// Deviation: efficiencies from before a search do not count in the mean, because the nodes were others.
//
// Deviation: the target thaws if the provider refuses or no jobs are left, because no more nodes will come.
//
// Deviation: only sizes on the mean's side are searched, because the paper states when to increase and when to
// decrease.
//
// Deviation: a job that is split evenly between two types keeps the faster type, because types have no order.
package pollux
