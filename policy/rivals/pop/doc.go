// Package pop is POP, partitioned optimisation problems: it divides a cluster and its jobs into k
// parts, each planned by another policy. Any policy becomes faster, because each part has a k-th of
// the jobs and GPUs. Quality suffers, because a job can use only the GPUs of its part.
//
// Source: thesis §4.5.1 (a): "POP splits the ILP formulation of the Sia policy into 16 sub-problems
// with equal resources (and jobs whenever possible)".
//
// Each part has a k-th of the nodes of every GPU type, drawn at random or balanced by GPUs. Nodes
// and jobs keep their part; a new one goes to the part with the least load. Reasons are about the
// part, prices are means weighted by GPUs, and objectives and bounds add up.
//
// A job that is too big for every part joins parts, least load first, until it fits. They stay
// joined while the job is there. Another job that holds more than its part has left moves to a part
// with room, or is planned without its GPUs.
//
// Deviation: parts last, where the thesis draws them for each problem, because a job that changes
// its part loses its GPUs.
//
// Deviation: parts are solved one after another, because policies share no state and start nothing;
// with a worker for each part it would take the time of one.
//
// Deviation: the bound is for plans that keep to the parts, because the parts know no other; a plan
// for the whole cluster may be better.
package pop
