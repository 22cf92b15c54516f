// Package pop is POP, partitioned optimisation problems: it divides a cluster and its jobs into k parts, each
// planned by another policy. Planning becomes faster, but a job can use only the GPUs of its part.
//
// Source: thesis §4.5.1 (a): "POP splits the ILP formulation of the Sia policy into 16 sub-problems with equal
// resources (and jobs whenever possible)".
//
// Each part has a k-th of every GPU type, drawn at random or balanced by GPUs. Nodes and jobs keep their part; new
// ones go where the load is least. Prices are means weighted by GPUs, and objectives and bounds add up.
//
// A job that is too big joins parts, least load first, for its lifetime. Another job that no longer fits its part
// moves, or is planned without its GPUs.
//
// Deviation: parts are kept, where the thesis draws them for each problem, because a job that changes its part
// loses its GPUs.
//
// Deviation: parts are solved one after another, because policies share no state and start nothing.
//
// Deviation: the bound holds only for plans in which jobs use the GPUs of their part, because each part knows no other.
package pop
