// Package submesh places allocations by the three rules of Sia §3.3.1:
//
//	(a) an allocation of fewer GPUs than a node has is not split over nodes;
//	(b) an allocation of whole nodes takes whole nodes, and shares none;
//	(c) if no such placement exists, some jobs are evicted and placed again.
//
// # Why a placement always exists
//
// Sia's configurations (§3.3.3) are powers of two within a node, and whole nodes. On nodes of R GPUs, R a
// power of two, every plan of such configurations within capacity has a placement (the submesh shape covering
// theorem). The algorithm is the proof:
//
//  1. Place whole nodes first, then the single allocations from large to small.
//  2. Invariant: when an allocation of r GPUs has its turn, every allocation on a node is a multiple of r,
//     because all sizes are powers of two and the larger ones came first. So the L used GPUs of a node are a
//     multiple of r.
//  3. The node has room for floor((R-L)/r) = floor(R/r) - L/r allocations of size r. Over N nodes this sums
//     to N floor(R/r) minus the GPUs placed, divided by r. It depends on what was placed, and not on where.
//  4. So no earlier choice of a node was wrong: if the plan is within capacity, each allocation finds room in
//     its turn.
//
// Jobs that keep their place could break the invariant, if a smaller one is in the way. Such a job is moved
// away and has its own turn later.
//
// Example: two nodes of 4 GPUs and allocations of 4, 2, 1 and 1. The 4 takes one node; 2, 1 and 1 fill the
// other, in this order. In the order 1, 1, 2, 4 the two single GPUs could end up on different nodes, and no
// room for 4 would be left.
//
// If R is not a power of two, the paper cuts a node into virtual nodes, one for each binary digit of R, and a
// plan must be within their capacity: two nodes of 6 GPUs carry two allocations of 4 and not three. The floor
// in step 3 already accounts for this, so the algorithm need not cut nodes.
//
// # The algorithm
//
//  1. claim: a job with an unchanged configuration keeps its place. So does a non-preemptive job, a job that
//     the policy placed itself, and a job without checkpoints that would lose more than 15 minutes of work. A
//     job whose workers join and leave while it trains keeps the part that it still gets; only the rest is
//     queued.
//  2. placePending: all other jobs are queued, whole nodes first, then from large to small. Each goes to the
//     node with the fewest free GPUs that suffice. Nodes in use come before idle ones, so that whole nodes
//     stay whole.
//  3. makeRoom: if no node has room, jobs that hold fewer GPUs on a node are displaced and queued. The node,
//     or the set of nodes, with the smallest weight of displaced jobs is chosen.
//  4. If that fails too, the allocation is taken back (policy.Evicted).
//  5. restore: if such a job held GPUs, no more than it was granted, it keeps them if they are still free
//     when all others are placed (policy.KeptNoPlace).
//
// Invariant: the free GPUs of a node are its GPUs minus those of the jobs that keep their place and of the
// pieces placed so far. No GPU is given twice.
//
// It ends: a job is displaced at most once, because displacing changes its state from kept to moving. An
// allocation has at most one piece more than there are node sizes. Each piece is queued at most twice, the
// second time to be scattered.
//
// A move to another node is a restart, and steps 1 and 3 keep moves few. Jobs that restore a checkpoint are
// displaced only if nothing else helps, non-preemptive ones never. This is a heuristic: a plan may need fewer
// moves (TestMovesAgainstBruteForce measures how many).
//
// On uniform nodes, no allocation of Sia's configurations within the capacity of the virtual nodes is ever
// evicted, unless some jobs are non-preemptive, without checkpoints, or resized.
//
// Cost: linear in the jobs if no allocation changed. Otherwise a piece finds its node in time linear in the
// GPUs of a node plus a 64th of the nodes of its type, because each pool keeps bit sets of nodes by free
// GPUs. A piece that displaces jobs looks at all nodes of its type and their jobs, and sorts the queue. If
// nodes count CPUs, every piece smaller than a node looks at all nodes of its type.
//
// # Other allocations
//
// Rigid jobs ask for 3, 6 or 10 GPUs. They get whole nodes first, and the rest on one node. With
// Options.Split they displace no job: if no room is left for a part, it is scattered over the fewest nodes
// when all others are placed, as in the public simulator. Without Options.Split they are placed like the
// others, and may find no place: the theorem does not cover them.
//
// # CPUs and memory
//
// If nodes count CPUs and memory, a job that gets a part of a node prefers a node with the CPUs and memory
// that the plan names. If there is none, it takes one that has the GPUs. CPUs and memory never keep a job
// from running and never move a job. At the end, the jobs of a node share its CPUs and memory by need
// (hostalloc.Settler).
//
//	paper                     here
//	partial-node allocation   single
//	whole-node allocation     whole
//	evict and try again       displace, then place in turn
//	no placement              drop: policy.Evicted; restore: policy.KeptNoPlace
package submesh
