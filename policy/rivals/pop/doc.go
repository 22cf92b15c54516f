// Package pop is POP, partitioned optimisation problems: it cuts a cluster and its jobs into k
// parts and asks another policy about each. This makes any policy faster, because each part has
// a k-th of the jobs and of the GPUs. It costs quality, because a job gets GPUs of its part
// only.
//
// Source: thesis §4.5.1 (a): "POP splits the ILP formulation of the Sia policy
// into 16 sub-problems with equal resources (and jobs whenever possible)".
//
// Each part has a k-th of the nodes of every GPU type, drawn at random, or dealt out by GPUs
// (balanced). Nodes keep their part while they are there, and so do jobs; a new one goes to the
// part of the least load. A plan joins the plans of the parts. Reasons are about the part (what
// is free in it, which jobs are ahead in it), prices are means weighted by GPUs, objectives and
// bounds add up. The background works of the parts run as one, and each part is shown the
// result of its own.
//
// Deviation: parts last, where the thesis draws them anew for each problem,
// because a job that changed its part would lose its GPUs.
//
// Deviation: parts are solved one after another, because policies share no state and start
// nothing; the time of one part is what it would take with a worker for each part.
//
// Deviation: the bound is that of plans that keep to the parts, because the parts
// know no other; a plan for the whole cluster may be better.
//
// A job that is too big for every part (its fewest GPUs, its reservation, or what it holds as a
// non-preemptive job) joins parts, the one of least load first, until it fits; they stay joined
// for as long as it is there. Other jobs that hold more than their part has left move to one
// with room, or are planned for as any other.
//
// Start reading at Policy.Plan; parts.go says who is where.
package pop
