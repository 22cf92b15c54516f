// Package themis auctions GPUs, round after round, among the jobs that are treated worst.
//
// Source: Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020.
//
// A job's finish-time fairness ρ is its completion time, divided by the time on its share (§2.1 of Shockwave):
// every Nth turn, among N jobs that each ask for the whole cluster. A bid is a number of GPUs of a type, with
// valuation V = 1/ρ if the job kept these GPUs to its end. A knapsack of logarithms (opt/mmkp) finds the greatest
// product.
//
// Winner i keeps c = Π V / Π V' of its GPUs, over the other winners, where V' is without i, so false bids gain
// nothing.
//
// The jobs with the largest ρ bid, as many as fit together; the rest of the GPUs goes to the others. A lease lasts
// one round.
//
// Dictionary: ρ: bidder.rho; N: round.contention; 1-f of Themis and f of Shockwave's Table 1: Options.Filter; V:
// offer.value, its logarithm; c: Policy.keeps; lease: Snapshot.Length.
//
// Deviation: bids are computed from the scheduler's estimates, because it has one for every job. Payments can be
// switched off, because no bid is false.
//
// Deviation: bidders that do not fit with those treated worse are left out, because V is 0 without GPUs, so every
// product would be 0.
//
// Deviation: a gang pays nothing, because it needs all its GPUs; an elastic job keeps at least its fewest.
//
// Deviation: N is the present number of jobs, because a snapshot has no earlier ones.
//
// Deviation: leftovers go by remaining time, not by lot, because plans are a function of snapshots.
//
// Deviation: with Adaptive the filter is 1/3 while some job is behind its fair finish time, else 2/3, because
// Shockwave's Table 1 names both values, and only a drawing shows when each applies.
//
// Deviation: a job of unknown length is assumed to end after a round, because ρ needs an end.
//
// Deviation: bids assume GPUs on as few nodes as possible, because a placer chooses them.
package themis
