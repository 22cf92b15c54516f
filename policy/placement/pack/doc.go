// Package pack places allocations by all their demands: GPUs, CPUs and memory, as
// Synergy §4.2 does. It is the placer for clusters whose nodes count CPUs; on
// others it is a best fit by GPUs.
//
// A job can run with any cell of its sensitivity matrix: an amount of CPUs and
// memory, with the job's speed relative to its speed with a GPU-proportional
// share. Its cells here are sorted by value. The first is the least that the job
// must have. The wish is the fastest one within what the plan names. The placer
// books every job twice: in Placer.wish with the cell that the plan names, in
// Placer.least with its first cell. A node lacks something if its jobs in
// Placer.wish take more CPUs or memory than it has.
//
// Invariant: in every layout, the GPUs and the first cells of all placed jobs fit
// on their nodes. Only wishes may be more than a node has.
//
// # Packing
//
// This is vector bin packing, which is NP-hard, by best fit decreasing:
//
//  1. Jobs are sorted by GPUs, then CPUs, then memory, all descending.
//  2. Each job goes to the node with the least free that has room for the cell
//     that the plan names (hostalloc.Nodes.BestFit). Every GPU of the node that
//     stays free keeps the CPUs and memory that the most modest of the unplaced
//     jobs is named for a GPU. Without that, two jobs with many CPUs could leave
//     six GPUs of a node without CPUs.
//  3. A job for which there is no such node goes to one with room for the
//     fastest of its smaller cells, and at last to one with room for its first
//     cell in Placer.least: no GPU stays idle for want of CPUs.
//
// Then mend exchanges GPUs of jobs between nodes that lack something and nodes
// that do not. At last the jobs of every node share its CPUs and memory by need
// (hostalloc.Settler). If the plan is fungible, the Settler may give a job more
// than the plan's cell; otherwise the plan's cell is a limit. No job falls below
// the speed of its GPU-proportional share.
//
// # Mending
//
// mend takes the nodes that lack something, those that lack most first. Two nodes
// of a type exchange as many GPUs of one job for as many of another, or for free
// GPUs. An exchange is made if what both nodes lack, as a part of a node, becomes
// less by more than the exchange costs by splitting jobs, and if both nodes have
// room for the first cells afterwards. It is a local search: where it stops, no
// single exchange that it looked at helps, and two together might.
//
// It ends, because every exchange decreases one number: what all nodes lack, plus
// the cost of all splits, by more than a constant. It also weighs no more
// exchanges than a fixed number, looks at a fixed number of other nodes for each
// exchange, and makes few passes over the nodes; see passes. These bounds are
// counts and never times, so that the result does not depend on the machine.
//
// # Who moves
//
// Three layouts are tried (Placer.best):
//
//  1. all running jobs stay, and the others are packed around them;
//  2. the same, and mend may move all jobs;
//  3. all jobs are packed anew. Nodes of the same kind then exchange names, so
//     that many jobs are where they were (rename).
//
// The second and third are tried only if the sum of relative speeds is below
// what it would be with every job in the cell that the plan names, or in the
// best cell that a node can carry. A layout that moves jobs is taken if it gains
// more in this round than the jobs lose that move. The gain is the increase of
// the sum of relative speeds times the length of the round. A job that moves
// loses its restart overhead times its relative speed. If restarts cost nothing,
// as in the paper's simulator, the layout with the largest sum is taken.
//
// # Consolidation
//
// A job that is split over nodes is believed to lose a part of its speed,
// Options.Penalty. A job that fits on a node is split if the gain is larger than
// that: its own gain when it is packed, or that of others when mend exchanges some
// of its GPUs. Every GPU of a job has the same CPUs and memory, on every node.
//
// # Cost
//
// At most three layouts are made and settled. Making one sorts the jobs, and looks
// for a node at most once for each cell of a job, on one node and on several. An
// exchange weighs, for each other node, the pairs of a job here and a job there;
// mend weighs at most 200000 pairs in a layout. Settling takes as long as
// hostalloc.Settler.Settle says.
//
//	Synergy                                  here
//	demand vector of a job                   Placer.demand
//	server with the least free resources     hostalloc.Nodes.One
//	minimum set of servers                   hostalloc.Nodes.Split
//	switch others to their fair share, step 2  mend, then hostalloc.Settler
//
// Deviation: Synergy empties the cluster every round and packs anew, and a job
// that does not fit takes back what a neighbour has beyond its share; here a
// node's jobs are settled together when all are placed, because then those give
// up CPUs and memory to which they are worth least.
package pack
