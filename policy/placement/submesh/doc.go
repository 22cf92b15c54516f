// Package submesh places allocations by the three rules of Sia §3.3.1:
//
//	(a) an allocation of fewer GPUs than a node has is not split over nodes;
//	(b) an allocation of whole nodes takes whole nodes, and shares none;
//	(c) if no such placement exists, some jobs are evicted and placed again.
//
// # Why a placement always exists
//
// Sia's configurations (§3.3.3) are powers of two within a node, and whole nodes. On nodes of R GPUs, R a power of
// two, every plan of such configurations within capacity has a placement (the submesh shape covering theorem). The
// algorithm is the proof:
//
//  1. Place whole nodes first, then the other allocations from large to small.
//  2. Invariant: when an allocation of r GPUs has its turn, the used GPUs L of each node are a multiple of r,
//     because all earlier sizes are.
//  3. So a node has room for floor(R/r) - L/r more. Over all nodes this sum depends on what was placed, and
//     not on where.
//  4. So no earlier choice of a node was wrong: within capacity, each allocation finds room in its turn.
//
// A smaller job that keeps its place could break the invariant. If it is in the way, it is moved, and has its own
// turn later.
//
// Example: on two nodes of 4 GPUs, allocations of 1, 1, 2 and 4 in this order could leave no room for the 4.
//
// If R is not a power of two, the paper cuts a node into virtual nodes, one for each binary digit of R: two nodes of
// 6 GPUs carry two allocations of 4, not three. The floor in step 3 accounts for this.
//
// # The algorithm
//
//  1. claim: a job with an unchanged configuration keeps its place. So does a non-preemptive job, a job that
//     the policy placed, and a job without checkpoints that would lose more than 15 minutes of work. A job
//     that resizes while it trains keeps what it still gets; only the rest is queued.
//  2. placePending: the other jobs go, in the order above, to the node with the fewest free GPUs that
//     suffice. Nodes in use come before idle ones, so that whole nodes stay whole.
//  3. makeRoom: if no node has room, jobs with fewer GPUs on a node are displaced and queued, where their
//     weights add up to least.
//  4. If that fails too, the allocation is taken back (policy.Evicted).
//  5. restore: if such a job held GPUs, not more than its grant, it keeps them if they are free at the end
//     (policy.KeptNoPlace).
//
// It ends: a job is displaced at most once, because that changes its state from staying to moving. Each piece of an
// allocation is queued at most twice, the second time to be scattered.
//
// Steps 1 and 3 keep moves few, but not always fewest. On uniform nodes, no allocation of Sia's configurations within
// the virtual nodes is ever evicted, unless some jobs are non-preemptive, without checkpoints, or resized.
//
// Cost: linear in the jobs if no allocation changed. Otherwise a piece finds its node in time linear in the GPUs of a
// node plus a 64th of the nodes of its type (bit sets by free GPUs).
//
// # Other allocations
//
// Rigid jobs ask for 3, 6 or 10 GPUs. They get whole nodes first, and the rest on one node.
//
// A job on a part of a node prefers a node with the CPUs and memory that the plan names, but takes any with the GPUs.
// At the end, placement.Settler divides CPUs and memory among the jobs of each node.
package submesh
