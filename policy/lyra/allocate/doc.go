// Package allocate decides how many workers every job gets, in two phases.
//
// Source: Lyra §5.2.
//
//	phase one  inelastic jobs and the base demands of elastic ones, shortest job first;
//	           a job that does not fit is passed over
//	phase two  extra workers for elastic jobs, new or running, so that the running
//	           time saved is largest; a knapsack (opt/mmkp)
//
// No running job is preempted: only its flexible workers count as free. Running time is inversely proportional to
// workers, or to the job's stated speed. Smaller jobs may pass a large one; package lyra starts jobs that have
// waited long.
//
// There are two pools of GPUs, training and on loan, so the knapsack has two capacities, each with a price: the
// seconds that one more GPU would save. All workers of a job are in one pool. On loan a worker needs PerGPU times
// as many GPUs, and the job must be fungible.
//
// Heterogeneous jobs may have workers in both pools, at a share of their speed. They come last, with their base
// demand on training first, then on loan. One knapsack chooses their extra workers on loan, a second one on
// training.
//
// Other schemes of the paper (§7.1):
//
//	fifo     phase one as given; a job that does not fit blocks its class
//	none     no phase two
//	gandiva  extra workers stay while phase one leaves room; if no job waits, elastic
//	         jobs get one more at a time, in turn
//	afs      one more worker at a time to the largest gain in throughput per training-equivalent
//	         GPU; ties (all, if speed is linear) go to the job that would end first
//
//	paper                        code
//	w_min, w_max                 Job.Min, Job.Max
//	minimum running time         Job.Shortest
//	item, weight, value (Fig. 6) a choice of round.item, its GPUs, the time saved against w_min
//	normalized                   Pool.PerGPU
//	heterogeneous performance (§7.1)  Job.MixedSpeed
//
// Deviation: a running job's value is the time saved of its remaining work, and changing its workers costs
// Options.Pause, because otherwise workers go back and forth between jobs of nearly equal value.
//
// Deviation: the knapsack is solved by prices and search instead of dynamic programming, because it has two
// capacities; on such small programs it proves the optimum.
//
// Deviation: with FIFO, a job larger than all its pools does not block others, because it would block them
// forever.
//
// Deviation: AFS and Gandiva give no worker that makes a job slower, as the first on the other side may, because
// its GPUs do more idle.
package allocate
