// Package pack places allocations by all their demands, GPUs, CPUs and memory, as Synergy §4.2 does. It is
// the placer for clusters whose nodes count CPUs; on others it is a best fit by GPUs.
//
// A job has cells: amounts of CPUs and memory for each GPU, with the job's speed relative to its
// GPU-proportional share. They are sorted by speed. The first cell is the least that the job must have. The
// wish is the fastest cell within what the plan names. Every job is booked twice: in Placer.wish with its
// wish, in Placer.least with its first cell. A node lacks something if the wishes of its jobs exceed its CPUs
// or memory.
//
// Invariant: in every layout, the GPUs and first cells of all placed jobs fit on their nodes. Only wishes may
// exceed a node.
//
// # Packing
//
// This is vector bin packing, which is NP-hard, by best fit decreasing:
//
//  1. Jobs are sorted by GPUs, then CPUs, then memory, all descending.
//  2. Each job goes to the node with the least free that has room for its wish (hostalloc.Nodes.One). Each
//     other free GPU of that node keeps the CPUs and memory of the most modest wish among the unplaced jobs.
//     Otherwise two jobs with many CPUs could leave six GPUs of a node without CPUs.
//  3. If no node has room, the job takes one with room for its fastest smaller cell, and at last one with
//     room for its first cell in Placer.least. So no GPU stays idle for want of CPUs.
//
// Then mend exchanges GPUs of jobs between nodes. At last the jobs of every node share its CPUs and memory by
// need (hostalloc.Settler). If the plan is fungible, a job may get more than its wish; otherwise its wish is
// the limit. No job falls below the speed of its GPU-proportional share.
//
// # Mending
//
// mend takes the nodes that lack something, the node that lacks most first. Two nodes of a type exchange GPUs
// of one job for as many GPUs of another, or for free GPUs. An exchange is made on two conditions. The lack
// of both nodes, as a part of a node, must decrease by more than the cost of splitting jobs. And both nodes
// must have room for the first cells afterwards. Example: node A has 2 free GPUs and lacks 8 CPUs because of
// a data-loading job of 2 GPUs; node B has plenty of CPUs and a language model that needs few. Exchanging the
// two jobs removes the lack, at no cost.
//
// This is a local search: where it stops, no single exchange that it weighed helps; two together might. It
// ends because every exchange decreases one number, the lack of all nodes plus the cost of all splits, by
// more than a constant. The number of passes, of exchanges weighed and of nodes compared is also bounded (see
// passes). The bounds are counts, not times, so the result does not depend on the machine.
//
// # Which jobs move
//
// Three layouts are tried (Placer.best):
//
//  1. all running jobs stay, and the others are packed around them;
//  2. the same, and mend may move all jobs;
//  3. all jobs are packed again. Nodes of the same kind then exchange names, so that many jobs are where they
//     were (rename).
//
// The second and third are tried only if some job could be faster. A layout that moves jobs wins if it gains
// more in this round than the moved jobs lose. The gain is the increase in the sum of relative speeds, times
// the length of the round. A moved job loses its restart overhead times its relative speed. If restarts cost
// nothing, as in the paper's simulator, the largest sum wins.
//
// # Consolidation
//
// A job on several nodes is assumed to lose Options.Penalty of its speed. A job that fits on one node is
// split only if the gain is larger: its own gain when it is packed, or the gain of others when mend exchanges
// some of its GPUs. Every GPU of a job has the same CPUs and memory, on every node.
//
// # Cost
//
// At most three layouts are made and settled. Each sorts the jobs, and searches for nodes at most twice for
// each cell of a job. mend weighs at most 200,000 exchanges in a layout. hostalloc.Settler.Settle has its own
// cost.
//
//	Synergy                                  here
//	demand vector of a job                   Placer.demand
//	server with the least free resources     hostalloc.Nodes.One
//	minimum set of servers                   hostalloc.Nodes.Split
//	switch others to their fair share, step 2  mend, then hostalloc.Settler
//
// Deviation: Synergy empties the cluster every round and packs again, and a job that does not fit takes back
// what a neighbour has beyond its share; here the jobs of a node are settled together when all are placed,
// because then the jobs with the least use for CPUs and memory give them up.
package pack
