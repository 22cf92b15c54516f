// Package allocate decides how many workers every job gets, in two phases.
//
// Source: Lyra §5.2.
//
//	phase one  what cannot be divided: inelastic jobs and the base demands of elastic ones,
//	           shortest job first; what does not fit is passed over
//	phase two  what is left: extra workers for elastic jobs, new or running, so that the
//	           running time saved is the most; a knapsack (opt/mmkp)
//
// Nothing that runs is preempted: a running job keeps its base demand, and only the GPUs of
// its flexible workers count as free. Running time is inversely proportional to workers, or
// to the speed that a job says it has with so many.
//
// There are two pools of GPUs, those of the training cluster and those on loan. A job's workers
// are all in one; on loan a worker needs PerGPU times as many GPUs, and the job must be
// fungible. So the knapsack has two capacities, each with a price: the seconds that one more
// GPU would save.
//
// Heterogeneous jobs may have workers in both pools, at a share of their speed. They go through
// both phases after all other jobs. Their base demand goes on training, and what does not fit
// there on loan. One knapsack then chooses extra workers on loan, another those for which
// training has room. Extra workers that do not make up for the speed lost on two sides save
// nothing, and are not given.
//
// The schemes that Lyra is compared with have the same two phases with other rules (Lyra §7.1):
//
//	fifo     phase one as given; a job that does not fit holds up all of its class behind it
//	none     no phase two: elastic jobs run with their base demand
//	gandiva  extra workers stay as far as phase one left them; while no job waits, elastic
//	         jobs get one more at a time, in turn
//	afs      one more worker at a time to the job of the largest gain in throughput per GPU,
//	         GPUs on loan counted as what they do; of equal gains, all where speed is linear,
//	         to the job that would end first with what it has (as package afs prefers the
//	         shorter of two), then to the one given first
//
// Dictionary: w_min, w_max: Job.Min, Job.Max; minimum running time: Job.Shortest; base and
// flexible demand: Min workers, and those beyond; item, weight, value (Fig. 6): choice of
// round.item, its GPUs, the time saved against w_min; normalized: Pool.PerGPU; performance of
// heterogeneous training (§7.1): Job.MixedSpeed; throughput loss (§7.2): Lossy.
//
// A large job may be passed over for as long as smaller ones come; package lyra starts jobs
// that have waited for long.
//
// Deviation: a running job's value is the time saved of what is left to do, and to change its
// workers costs Options.Pause, because otherwise workers go back and forth between jobs of
// nearly equal value.
//
// Deviation: the knapsack is solved by prices and search instead of dynamic programming,
// because it has two capacities; on programs that small it proves the optimum.
//
// Deviation: by FIFO, a job that is larger than all pools it may be in does not block the jobs
// behind it, because it would block them for ever.
//
// Deviation: AFS and Gandiva give no worker that makes a job slower, as the first on the other
// side may, because its GPUs do more idle.
package allocate
