// Package pack places allocations by all their demands: GPUs, CPUs and memory, as
// Synergy §4.2 does. It is the placer for clusters whose nodes count CPUs; on
// others it is a best fit by GPUs.
//
// # Packing
//
// Jobs are sorted by GPUs, then CPUs, then memory, and each goes to the node with
// the least free that has room for all it is named (hostalloc.Nodes.BestFit). Every
// GPU that is still free keeps the CPUs and memory of the most modest job that is
// not placed yet, so that no two hungry jobs leave six GPUs without CPUs. A job
// for which there is no room goes where it can have the fastest of its smaller
// cells, or at last where there are GPUs: no GPU stays idle for want of CPUs.
//
// Then nodes whose jobs are named more than there is exchange jobs with others
// (mend), and every node's jobs share its CPUs and memory by need
// (hostalloc.Settler): the plan's cells are wishes if the plan is fungible, else
// limits. No job falls below the speed of its GPU-proportional share.
//
// # Who moves
//
// Three layouts are tried: everyone who runs stays and the others are packed
// around them; the same, and mend may move everyone; all are packed anew, on nodes
// named so that many are where they were. The last two only if some job does not
// get what it is named. A layout that moves jobs is taken if it gains more in this
// round than they lose: the relative speeds it adds, times the round, against
// their restart overheads, each times the job's relative speed. Where a restart
// costs nothing, as in the paper's simulator, that is whenever it is better.
//
// # Consolidation
//
// A job that is split over nodes is believed to lose a part of its speed,
// Options.Penalty. One that fits on a node is split if what that gains is worth
// more: for itself, when it is packed, or for others, when mend exchanges some of
// its GPUs. Every GPU of a job has the same CPUs and memory, wherever it is.
//
//	Synergy                                  here
//	demand vector of a job                   Placer.demand
//	server with the least free resources     hostalloc.Nodes.One
//	minimum set of servers                   hostalloc.Nodes.Split
//	switch others to their fair share, step 2  mend, then hostalloc.Settler
//
// Deviation: Synergy empties the cluster every round and packs anew, and a job
// that does not fit takes back what a neighbour has beyond its share; here a
// node's jobs are settled together when all are placed, because what one gives up
// is then worth least.
package pack
