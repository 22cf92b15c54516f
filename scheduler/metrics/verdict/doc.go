// Package verdict decides which of several policies is best, by how much, and whether the difference exceeds chance.
//
// Policies run the same jobs (common random numbers) and are compared seed by seed, by the ratio of their values. The
// interval is Student's t over the logarithms of the ratios, so load that differs between seeds cancels out.
//
// A recorded history has one seed. Chance then means that another period might differ: blocks of time are resampled
// under both policies (scheduler/metrics/statistics).
//
// Source: Law, Simulation Modeling and Analysis, §10.2.1 (paired t) and §11.2 (common random numbers).
package verdict
