// Package verdict says which of several policies is best, by how much, and whether that is more than chance.
//
// Policies are compared in pairs, on the same jobs (common random numbers): seed by seed, the ratio of their values.
// How far the mean of the ratios' logarithms may be from that over all seeds is an interval of Student's t. What
// differs between seeds, as how crowded they are, is the same for both policies and not in it.
//
// Of one history there is one seed, and chance has another meaning: whether it would be so in another stretch of
// time. Blocks of time are drawn anew, with the jobs that came in them, under both policies (scheduler/metrics/statistics).
//
// Source: Law, Simulation Modeling and Analysis, §10.2.1 (paired t) and §11.2 (common random numbers).
package verdict
