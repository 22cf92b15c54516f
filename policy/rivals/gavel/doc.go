// Package gavel shares GPUs out in time. An objective determines the fraction of time of every job
// on each GPU type, and a mechanism turns the fractions into rounds. Jobs run with all requested
// GPUs or none; the policy chooses when, and on which GPU type.
//
// Source: Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning
// Workloads", OSDI 2020 (Gavel), and the policies that it and Shockwave (§8.2) compare with.
//
// The objectives, for job m with gang s, throughput T by type, and a matrix X of time fractions,
// within one per job and the GPUs of each type (§3.1):
//
//	maxmin    max min over m of (1/w) s ΣTX / throughput(m, X^equal)    §4.1
//	sum       max Σ ΣTX, in steps per second                            §4.2
//	ftf       min max over m of ρ = (age + left/ΣTX) / isolated time    §4.2
//	makespan  min max over m of left / ΣTX                              §4.2
//	allox     a matching of jobs with (machine, place from the last)    AlloX
//	stride    the same time for every job                               Gandiva-Fair
//
// The first four are programs of opt/barrier. Most have many optima: with two jobs per GPU it does
// not matter for the makespan which short job waits. A simplex method would give some jobs
// everything; in Shockwave's OSSP that changes the mean completion time by 6 %. Fractions here are
// the end of the central path, as far as possible from every bound: equal jobs are treated equally,
// and spare time is shared evenly. The public code stops elsewhere; public.go does the same.
//
// Dictionary: X: account.x; T: account.pace, or account.rate, useful steps, if an objective needs
// times; s: account.size; time due minus time received: account.owed, seconds; w: Spec.Weight;
// iterations left: account.left.
//
// Deviation: throughput is estimated at the job's present batch size, because that may change by
// itself (Shockwave §2.3).
//
// Deviation: jobs may change less often than plans are made (Options.Turn), because the scheduler's
// round is for all policies, and in rounds shorter than a restart jobs that take turns would make
// no progress.
//
// Deviation: no two jobs share a GPU (§3.1, space sharing), because their effect on each other is
// unknown.
//
// Deviation: fractions of jobs that ask for more GPUs than a type has are 0 there, because no round
// could give them.
package gavel
