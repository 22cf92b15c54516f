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
// its flexible workers count as free. Running time is inversely proportional to workers.
//
// There are two pools of GPUs, those of the training cluster and those on loan. A job's
// workers are all in one; on loan a worker needs PerGPU times as many GPUs, and the job must
// be fungible. So the knapsack has two capacities, and one price each: the seconds that one
// more GPU would save.
//
// Dictionary: w_min, w_max: Job.Min, Job.Max; minimum running time: Job.Shortest; base and
// flexible demand: Min workers, and those beyond; item, weight, value (Fig. 6): choice of
// program, its GPUs, the time saved against w_min; normalized: Pool.PerGPU.
//
// Deviation: a job that has waited for Options.Patience goes first, and if it does not fit,
// the pool that it needs is held for it, because the paper's rule passes large jobs over for
// as long as small ones come, although §5.2 says that it avoids starvation. What is held
// serves flexible workers until then.
//
// Deviation: a running job's value is the time saved of what is left to do, and to change its
// workers costs Options.Pause, because otherwise workers go back and forth between jobs
// whose values pass each other.
//
// Deviation: the knapsack is solved by prices and search instead of dynamic programming,
// because it has two capacities; on programs that small it proves the optimum.
package allocate
