// Package reclaim chooses which servers on loan go back to the inference cluster, so that as
// few jobs as possible are preempted.
//
// Source: Lyra §4.
//
// A preempted job leaves all its servers, so returning servers that share jobs costs less than
// returning others. The workers of an elastic job beyond its base demand can be taken away
// without preemption, so servers with no other workers go back first (§5.3). A Rule chooses
// among the other servers:
//
//	greedy  the paper's: the server of the least preemption cost, the sum of the server
//	        fractions of its jobs, then the costs without these jobs
//	random  drawn by lot
//	scf     smallest (job) count first
//	exact   the least preemptions, of those the least collateral damage: opt/minkunion
//
// exact is the default. Its steps are limited. If they run out, its answer is the best found,
// at least as good as greedy's, with a bound on the optimum.
//
// Dictionary: N_R: n; number of running jobs, GPU fraction, server fraction (Table 1): jobs
// of a server, GPUFraction, ServerFraction; collateral damage (§7.3): Answer.Damage;
// flexible server group (§5.3): servers on which no share is base.
//
// Deviation: the paper's optimum comes from exhaustive search, 420,000 times as slow as its
// greedy; here it is searched with flows as bounds, because that takes milliseconds.
//
// Deviation: Random and SCF return servers without base workers first, too, because only the
// choice among the others is compared.
//
// Deviation: collateral damage counts GPUs of base workers, because those of flexible ones
// go to other jobs at the next round anyway.
package reclaim
