// Package rack brings the nodes of a job into one NVLink domain or one rack.
//
// Problem. Another placer has placed a plan. A job on several nodes, a gang, is to be on
// nodes of one NVLink domain, or else of one rack, where the network between them is fastest. A job that fits one
// node is on one already: the levels are node, NVLink domain, rack, cluster; those that no node names are left out.
// Nothing that was placed may lose its place.
//
// Method. What two nodes of a kind carry is exchanged: all jobs on the one go to the other. Nodes are
// of a kind if they have the same GPU type and its memory, GPUs, CPUs and
// memory, group and tenure. So whatever was placed
// stays placed, on as many nodes, with as much of each; no job can be refused for a rack.
//
//  1. The gangs that start in this round, and are in more than one domain, or in more than one rack, have
//     their turn, those on most nodes first.
//  2. For each domain the nodes of the gang elsewhere are exchanged for those in the domain that cost
//     least, if there are enough. What they cost is the GPUs of the jobs that run and
//     would have to restart on other nodes. Nodes that are idle, and those of jobs that start in this round
//     anyway, cost nothing.
//  3. The domain that costs least is taken; of these the one that has the fewest idle nodes, so
//     that others stay whole. If that costs more GPUs than the gang has, or no domain has enough nodes, the same is
//     tried with racks; else the gang stays where it is.
//
// Jobs on fewer nodes than the gang give way, and those that start and are in several racks
// whatever happens. A gang that gave way has its turn afterwards if it is on fewer nodes. Each gang has at most one
// turn, so it ends.
//
// The other placer sees the nodes in the order of their racks and domains, so that nodes that it takes one after the
// other are often in one rack. It is told nothing else of them.
//
// Nodes that the plan gives back are not in the snapshot (see placement.Placer), so nothing comes to them.
//
// Who never gives way: jobs that the policy placed itself, that are non-preemptive, without
// checkpoints, restoring one, holding a reservation, or resized while they train.
//
// A gang that runs stays where it is, in one domain or rack or in several: to move it would be a restart for
// all its GPUs.
//
// Cost: linear in the jobs where no node has a domain or a rack or no gang that starts is in several. Otherwise,
// for each such gang, the nodes of its GPU type and the jobs on them.
//
// Not taken into account: how much slower a class of jobs is in several racks. It is measured (model/perf/locality), and to weigh it
// was not found to help (docs/adr/0059-what-several-racks-cost-is-learned.md). Nor are islands of GPUs within a node: which of its GPUs a
// job gets is chosen on the node.
package rack
