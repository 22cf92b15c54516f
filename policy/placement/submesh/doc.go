// Package submesh places allocations by the three rules of Sia §3.3.1:
//
//	(a) an allocation of fewer GPUs than a node has is not split over nodes;
//	(b) an allocation of whole nodes takes whole nodes, and shares none;
//	(c) if no such placement exists, some jobs are evicted and placed again.
//
// # Why there always is a placement
//
// Sia's configurations (§3.3.3) are powers of two within a node, and whole
// nodes. On nodes of R GPUs, R a power of two, every plan of such
// configurations within capacity has a placement: the submesh shape covering
// theorem. The proof is the algorithm:
//
//  1. Place whole nodes first, then the single allocations from large to small.
//  2. When an allocation of size r has its turn, every allocation placed so far
//     has size r or more, and all these sizes are multiples of r, because they
//     are powers of two. So the L GPUs in use of a node are a multiple of r.
//  3. The node has floor((R-L)/r) = floor(R/r) - L/r places left for size r. Over N nodes
//     the sum is N floor(R/r) less what was placed over r. It depends on what was placed,
//     and not on where.
//  4. So no earlier choice of a node can be wrong: if the plan is within
//     capacity, there is a place for each allocation in its turn.
//
// Step 2 is the invariant. It holds for jobs that keep their place only if
// smaller ones among them do not count: a smaller job that is in the way is
// moved away, and has its own turn later.
//
// If R is not a power of two, the paper cuts a node into virtual nodes, one for
// each binary digit of R, and a plan must be within the capacity of these: two
// nodes of 6 GPUs have 12, but carry two allocations of 4 and not three. The
// floor in step 3 already counts the places of all virtual nodes, so that the
// algorithm does not cut nodes.
//
// # The algorithm
//
//  1. claim: a job whose configuration did not change keeps its place. So does
//     a non-preemptive job, one that the policy has placed itself, and one without
//     checkpoints that would lose more than 15 minutes of work. A job whose workers
//     join and leave while it trains keeps what it has, or as much as it still gets,
//     and is queued for the rest alone.
//  2. placePending: all others are queued, whole nodes first, then from large to
//     small, and each goes to the node with the fewest free GPUs that suffice. A
//     node in use is preferred to an idle one, so that whole nodes stay whole.
//  3. makeRoom: if there is no such node, jobs that hold fewer GPUs there are
//     displaced from the node, or from the several nodes, where their weights
//     add up to least. The piece takes their place, and they are queued.
//  4. If that fails, too, the allocation is taken back (policy.Evicted).
//  5. restore: of these jobs, who held GPUs, no more than it was granted, keeps them if they are
//     free when all others are placed (policy.KeptNoPlace).
//
// Invariant: the free GPUs of a node are its GPUs less those of the jobs that
// keep their place and of the pieces placed so far; no GPU is given twice.
//
// It ends: a job is displaced at most once, because only jobs in the state kept
// are, and displacing one makes it moving. Each allocation has at most as many
// pieces as there are node sizes and one more, and each piece is queued at most
// twice, the second time to be scattered.
//
// A move to another node is a restart. Steps 1 and 3 keep the number of moves
// low. Jobs that are restoring a checkpoint weigh so much that they are
// displaced only if nothing else helps; non-preemptive ones never are. This is a
// heuristic: the least number of moves that a plan needs may be smaller
// (TestMovesAgainstBruteForce says by how much).
//
// On uniform nodes, without non-preemptive jobs, jobs without checkpoints and jobs that are
// resized, no allocation of Sia's configurations within the capacity of the virtual nodes is
// ever evicted.
//
// Cost: if no allocation changed, linear in the number of jobs. Otherwise a
// piece finds its node in time linear in the GPUs of a node, plus a 64th of the
// nodes of its type, as each pool keeps its nodes as bit sets by free GPUs. A
// piece that displaces jobs looks at all nodes of its type and the jobs on them
// and sorts the queue; where nodes count CPUs, every piece of a part of a node
// looks at all nodes of its type.
//
// # Other allocations
//
// Rigid jobs ask for 3, 6 or 10 GPUs. They get whole nodes first, and the rest
// on one node. With Options.Split they displace nobody: where there are too few
// idle nodes, or no node has room for the rest, it is scattered over the fewest
// nodes when all others are placed, as the public simulator does. Without
// Options.Split they are placed like the others, from large to small, and may
// find no place: the theorem does not cover them.
//
// # CPUs and memory
//
// Where nodes count CPUs and memory, a job that gets a part of a node goes to a
// node that still has the CPUs and memory that the plan names. If there is none,
// it goes to one that has the GPUs. CPUs and memory never keep a job from
// running, and never move a job that may stay. When all GPUs are placed, the
// jobs of a node share its CPUs and memory by need: see hostalloc.Settler.
//
//	paper                     here
//	partial-node allocation   single
//	whole-node allocation     whole
//	evict and try again       displace, then place in turn
//	no placement              drop: policy.Evicted; restore: policy.KeptNoPlace
package submesh
