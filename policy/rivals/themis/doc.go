// Package themis auctions GPUs, round after round, among the jobs that are treated worst.
//
// Source: Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020. Shockwave
// (§2.1, Table 1, §8.2) sums it up.
//
// A job's finish-time fairness is its time from submission to end, divided by the time on its share
// of the cluster (§2.1 of Shockwave). Among N jobs that each ask for the whole cluster, the share
// is every Nth turn. A bid is a number of GPUs of a type. Its valuation V is 1/ρ if the job kept
// these GPUs to its end. A knapsack of logarithms (opt/mmkp) finds the greatest product.
//
// Winner i keeps a fraction c = Π V / Π V' of its GPUs, over the other winners, where V' is their
// valuation without i. No job gains by a false bid.
//
// Only the jobs with the largest ρ bid, as many as fit together, worst treated first. They get the
// GPUs with the greatest product of valuations; the rest goes to the other jobs. A lease lasts one
// round.
//
// Dictionary: ρ: bidder.rho; N: round.contention; 1-f of Themis and f of Shockwave's Table 1:
// Options.Filter; V: offer.value, its logarithm; c: Policy.keeps; lease: Snapshot.Length.
//
// Deviation: bids are computed from the scheduler's estimates, not by the jobs, because it has an
// estimate for every job. So no bid is false, and payments can be switched off.
//
// Deviation: bidders that do not fit together with those treated worse are left out of the auction,
// because without GPUs V is 0, and so would be every product.
//
// Deviation: a gang pays nothing, because it cannot use a part of its GPUs; an elastic job keeps at
// least its fewest GPUs.
//
// Deviation: N is the present number of jobs, because a snapshot does not contain earlier numbers.
//
// Deviation: jobs outside the auction get the rest in order of remaining time, where Themis draws
// lots, because plans here are a function of snapshots.
//
// Deviation: with Adaptive the filter is 1/3 while some job is behind its fair finish time, and
// otherwise 2/3, because Shockwave's Table 1 names the two values, and only a drawing shows when
// each applies.
//
// Deviation: a job of unknown length is assumed to end after a round, because ρ needs an end; so
// its ρ grows while it waits.
//
// Deviation: bids do not include nodes, because a placer chooses them; GPUs are assumed to be on as
// few nodes as possible.
package themis
