// Package pack places allocations by all their demands, GPUs, CPUs and memory, as Synergy §4.2 does. It is
// the placer for clusters whose nodes count CPUs; on others it is a best fit by GPUs.
//
// A job has cells: amounts of CPUs and memory for each GPU, sorted by speed. The first cell is the least
// that it must have; its wish is the fastest cell within what the plan names. Every job is booked twice: in
// Placer.wish with its wish, in Placer.least with its first cell. A node lacks something if the wishes of
// its jobs exceed it.
//
// Invariant: in every layout, the GPUs and first cells of all placed jobs fit on their nodes.
//
// # Packing
//
// Vector bin packing is NP-hard; this is best fit decreasing:
//
//  1. Jobs are sorted by GPUs, then CPUs, then memory, all descending.
//  2. Each job goes to the node with the least free that has room for its wish (placement.Nodes.One). Each
//     other free GPU of that node keeps the CPUs and memory of the most modest unplaced job. Otherwise two
//     jobs with many CPUs could leave six GPUs without CPUs.
//  3. If no node has room, the job takes its fastest smaller cell that fits, and at last its first cell in
//     Placer.least. So no GPU stays idle for want of CPUs.
//
// Then mend exchanges GPUs between nodes, and placement.Settler divides the CPUs and memory of each node.
// If the plan is fungible, a job may get more than its wish.
//
// # Mending
//
// mend takes the nodes that lack something, the worst first. Two nodes of a type exchange GPUs of one job
// for as many GPUs of another, or for free GPUs, if their lack, as a part of a node, decreases by more than
// the cost of splitting jobs.
//
// It ends because every exchange decreases one number, the lack of all nodes plus the cost of all splits, by more than a constant. Passes,
// exchanges and compared nodes are also bounded by counts.
//
// # Which jobs move
//
// Placer.best tries three layouts:
//
//  1. all running jobs stay, and the others are packed around them;
//  2. the same, and mend may move all jobs;
//  3. all jobs are packed again. Nodes of the same kind then exchange names, so that many jobs are where they
//     were (rename).
//
// The second and third win if their gain in this round, the increase in the sum of relative speeds times
// its length, exceeds their cost: the restart overhead of each moved job times its relative speed.
//
// A job on several nodes is assumed to lose Options.Penalty of its speed. A job that fits on one node is
// split only if the gain is larger.
//
// Cost: at most three layouts. Each sorts the jobs, searches for nodes at most twice for each cell of a
// job, weighs at most 200,000 exchanges, and calls placement.Settler.Settle.
//
//	Synergy                                  here
//	demand vector of a job                   Placer.demand
//	server with the least free resources     placement.Nodes.One
//	minimum set of servers                   placement.Nodes.Split
//	switch others to their fair share, step 2  mend, then placement.Settler
//
// Deviation: Synergy empties the cluster every round and packs again, and a job that does not fit takes
// back what a neighbour has beyond its share; here the jobs of a node are settled together when all are
// placed, because then the jobs with the least use for CPUs and memory give them up.
package pack
