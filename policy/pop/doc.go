// Package pop cuts a cluster and its jobs into k parts and asks another policy
// about each: POP, partitioned optimisation problems. It makes any policy quick,
// because a k-th of the jobs chooses from a k-th of the GPUs, and costs quality,
// because no job sees more than its part.
//
// Source: thesis §4.5.1 (a): "POP splits the ILP formulation of the Sia policy
// into 16 sub-problems with equal resources (and jobs whenever possible)".
//
// Each part has a k-th of the nodes of every GPU type, drawn at random, or dealt
// out by GPUs (balanced). Nodes keep their part while they are there, and so do
// jobs; a new one goes to the part of the least load. A plan is the parts' plans
// side by side: their reasons speak of the part (what is free in it, who is ahead
// in it), prices are means by GPUs, objectives and bounds add up. Their background
// works are one, and each part is shown what its own returned.
//
// Deviation: parts last, where the thesis draws them anew for each problem,
// because a job that changed its part would lose its GPUs.
//
// Deviation: parts are solved one after another, because policies share no state
// and start nothing; what one part takes is what a worker each would take.
//
// Deviation: the bound is that of plans that keep to the parts, because the parts
// know no other; a plan for the whole cluster may be better.
//
// A job that is too big for every part (its fewest GPUs, its reservation, or what
// it holds as a non-preemptive job) joins parts, the one of least load next, until
// it fits; they are one for as long as it is there. Other jobs that hold more than
// their part has left move to one with room, or are planned for as any other.
//
// Start reading at Policy.Plan; parts.go says who is where.
package pop
