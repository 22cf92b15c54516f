// Package verdict decides which of several policies is best, by how much, and whether the difference exceeds
// chance.
//
// Policies run the same jobs and are compared seed by seed, by the ratio of their values. The interval is
// Student's t over the logarithms of the ratios, so load cancels out.
//
// A recorded history has one seed: blocks of time are resampled (scheduler/metrics/statistics).
//
// Source: Law, Simulation Modeling and Analysis, §10.2.1 (paired t) and §11.2 (common random numbers).
package verdict
