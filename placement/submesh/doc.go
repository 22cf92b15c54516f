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
// theorem. The proof is the algorithm. Place whole nodes first, then single
// allocations from large to small. A node with L GPUs in use by allocations of
// size r or more has floor((R-L)/r) places for another of size r, wherever
// those L GPUs are, because their sizes are multiples of r; so the number of
// places left depends on what was placed, not on where. Only smaller jobs can
// stand in the way, and a smaller job that is moved away has its turn later.
//
// Where R is not a power of two, the paper cuts a node into virtual nodes, one
// for each binary digit of R. The floor above holds for any R, and already
// counts the places of all its virtual nodes: there is nothing to cut.
//
// # How few moves
//
// A move to another node is a restart. So a job whose configuration did not
// change stays where it is, and only the others are placed: on the node with
// the fewest free GPUs that suffice, and on one that is in use before one that
// is idle, to keep whole nodes whole. If that fails, the fewest smaller jobs
// are moved off one node, or off the nodes that need the fewest moves; those
// that are restoring a checkpoint only if nothing else helps, non-preemptive
// ones never. They are placed again in their turn, which may move jobs that are
// smaller still. This is a heuristic: it does not prove that a plan needs as
// many moves (TestMovesAgainstBruteForce says how far it is).
//
// Only if all this fails is the allocation taken back (policy.Evicted). On
// uniform nodes with Sia's configurations and no non-preemptive jobs that
// never happens.
//
// # Other allocations
//
// Rigid jobs ask for 3, 6 or 10 GPUs. They get whole nodes first, and the rest
// on one node. With Options.Split they displace nobody: where there are too few
// idle nodes, or no node has room for the rest, it is scattered over the fewest
// nodes when all others are placed, as the public simulator does. Without it
// they are placed like the others, from large to small, and may find no place:
// the theorem does not cover them.
//
// # CPUs and memory
//
// Where nodes count them, a job of a part of a node goes to one that has the CPUs
// and memory that the plan names left, if there is one, before one that has GPUs
// alone. They never keep a job from running, and move none that may stay. When all
// GPUs are placed, the jobs of a node share what it has by need: see hostalloc.Settler.
//
//	paper                     here
//	partial-node allocation   single
//	whole-node allocation     whole
//	evict and try again       displace, then place in turn
//	no placement              drop: policy.Evicted
package submesh
