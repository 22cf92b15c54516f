// Package reclaim chooses which servers on loan go back to the inference cluster, so that few jobs are
// preempted.
//
// Source: Lyra §4.
//
// A preempted job leaves all its servers, so returning servers that share jobs costs less. Flexible workers,
// those beyond a base demand, can be taken without preemption, so rules greedy and exact return servers with
// only such workers first (§5.3). A Rule chooses the servers:
//
//	greedy  the paper's: the server with the least preemption cost, the sum of the server
//	        fractions of its jobs, then again without these jobs
//	random  at random, a baseline of the paper
//	scf     smallest (job) count first, a baseline of the paper
//	exact   the fewest preemptions, then the least collateral damage: opt/minkunion
//
// If its steps run out, its answer is the best found, at least as good as greedy's, with a bound on the
// optimum.
//
//	paper                       code
//	N_R                         n
//	server fraction (Table 1)   serverSet.fraction
//	collateral damage (§7.3)    Answer.Damage
//	flexible server group (§5.3)  servers without base workers
//
// Deviation: the paper's optimum comes from exhaustive search, 420,000 times as slow as its greedy; here it
// is searched with flows as bounds, because that takes milliseconds.
//
// Deviation: collateral damage counts GPUs of base workers, because GPUs of flexible workers go to other jobs
// at the next round anyway.
package reclaim
