// Package themis is the policy Themis: in each round it auctions GPUs among the jobs with the worst finish-time
// fairness.
//
// Source: Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020.
//
// A job's finish-time fairness ρ is its completion time, divided by its completion time on a fair share. With N jobs,
// a fair share is the whole cluster in every Nth round (Shockwave §2.1). A bid names a number of GPUs of a type. Its
// value is V = 1/ρ, if the job kept these GPUs to its end. The auction chooses one bid for each job so that the
// product of all V is greatest. Logarithms turn this into a knapsack (opt/mmkp).
//
// Winners pay with GPUs, so that false bids gain nothing. Winner i keeps the share c = Π V / Π V' of its GPUs. Both
// products are over the other winners; V' are their values in an auction without i.
//
// The fraction of jobs with the largest ρ bids, as many as fit together. The remaining GPUs go to the other jobs. A
// grant (lease) lasts one round.
//
// Dictionary: ρ: bidder.rho; N: round.contention; 1-f of Themis and f of Shockwave's Table 1: Options.Filter; V:
// offer.value, its logarithm; c: Policy.keeps; lease: Snapshot.Length.
//
// Deviation: bids are computed from the scheduler's estimates, because it has one for every job. Payments can be
// switched off, because no bid is false.
//
// Deviation: a bidder that does not fit next to jobs with larger ρ is left out, because its V would be 0, and with it
// every product.
//
// Deviation: a rigid job pays nothing, because it needs all its GPUs; an elastic job keeps at least its fewest.
//
// Deviation: N is the present number of jobs, because a snapshot has no earlier ones.
//
// Deviation: remaining GPUs go by remaining time, not by lot, because plans are a function of snapshots.
//
// Deviation: with Adaptive the filter is 1/3 while some job is behind its fair finish time, else 2/3, because
// Shockwave's Table 1 names both values, and only a drawing shows when each applies.
//
// Deviation: a job of unknown length is assumed to end after a round, because ρ needs an end.
//
// Deviation: bids assume GPUs on as few nodes as possible, because a placer chooses them.
package themis
