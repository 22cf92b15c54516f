// Package themis auctions GPUs, round after round, among the jobs that are treated worst.
//
// Source: Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020.
// Shockwave (§2.1, Table 1, §8.2) sums it up.
//
//	meet      every job's finish-time fairness ρ, and its bids
//	filter    the part of the jobs with the largest ρ is let through
//	admit     of those, the worst treated first, as many as can all be fed
//	auction   they get the GPUs with which the product of their valuations is greatest
//	charge    hidden payments: a winner keeps less, the more it took from the others
//	share     what is left goes to the other jobs, shortest first, and then to who can grow
//	give      the plan, and why the others wait
//
// A job's finish-time fairness is the time that it takes from its submission to its end, over
// the time that it would take on its part of the cluster (§2.1 of Shockwave). Among N jobs that
// each ask for the whole cluster, a job's part is every Nth turn. A bid is a number of GPUs of
// a type, and its valuation V = 1/ρ, if the job kept these GPUs to its end. A knapsack
// (opt/mmkp) of the logarithms finds the greatest product.
//
// The payment of winner i is a fraction of what it won: it keeps c = Π V / Π V', over the other
// winners, where V' is what they would have had without i. No job gains by a false bid.
//
// Jobs run as submitted, with all their GPUs or none, unless their number of GPUs may be
// adapted. The lease on GPUs is one round.
//
// Dictionary: ρ: fairness.Estimate, bidder.rho; N: round.contention; 1-f of Themis and f of
// Shockwave's Table 1: Options.Filter; T_sh and T_id: numerator and denominator of Estimate;
// V: offer.value, its logarithm; c: Policy.keeps; lease: Snapshot.Length.
//
// Deviation: jobs do not bid themselves; bids are computed from the scheduler's estimates,
// because it has one for every job. So no bid is false, and payments can be switched off.
//
// Deviation: bidders for which those treated worse leave too few GPUs are left out of the
// auction, because without GPUs V is 0: where gangs do not all fit, every product would be 0.
//
// Deviation: a gang pays nothing, because a part of its GPUs would be of no use to it; an
// elastic job keeps at least the fewest GPUs it runs with.
//
// Deviation: N is the number of jobs now, because a snapshot does not say how many jobs there
// were during the life of a job.
//
// Deviation: what the auction leaves goes to jobs outside it in order of their time left,
// where Themis draws lots, because plans here are a function of snapshots.
//
// Deviation: with Adaptive the filter is 1/3 as long as some job is behind its fair finish
// time and else 2/3, because Shockwave's Table 1 names the two values, and only a drawing
// shows when each applies.
//
// Deviation: a job that does not say how much it has to do is taken to be a round from its end,
// because ρ needs an end; so its ρ grows while it waits.
//
// Deviation: nodes do not count in bids, because a placer finds them here: GPUs are taken
// to lie on as few as can carry them.
package themis
