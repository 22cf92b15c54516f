// Package gavel shares GPUs out in time: an objective determines the fraction of time that
// every job is to have on each GPU type, and a mechanism turns the fractions into rounds. Jobs
// run as submitted, with all their GPUs or none; the policy chooses when, and on GPUs of which
// type.
//
// Source: Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for
// Deep Learning Workloads", OSDI 2020 (Gavel), and the policies that it and
// Shockwave (§8.2) compare with.
//
//	meet      the jobs, their gangs and throughputs on each type
//	settle    what each had of the last round
//	begins    whether a turn begins, in which others may run
//	solve     the time fractions then, if jobs, throughputs or GPUs changed
//	serve     who runs in this round
//	explain   why the others wait
//
// The objectives, for job m with gang s, throughput T on each type, and the matrix X
// of time fractions, each row and Σ s X of each type within what there is (§3.1):
//
//	maxmin    max min over m of (1/w) s ΣTX / throughput(m, X^equal)    §4.1
//	sum       max Σ ΣTX, in steps per second                            §4.2
//	ftf       min max over m of ρ = (age + left/ΣTX) / isolated time    §4.2
//	makespan  min max over m of left / ΣTX                              §4.2
//	allox     a matching of jobs with (machine, place from the last)    AlloX
//	stride    the same time for every job                               Gandiva-Fair
//
// The first four are programs of opt/barrier. Most have many optima: with two jobs for each
// GPU, it does not matter for the makespan which of the short ones waits. A simplex method
// would give some of them all and others nothing; in Shockwave's OSSP this changes the mean
// completion time by 6 %. Fractions here are the optimum at the end of the central path, which
// is as far as possible from every bound: equal jobs are treated equally, and spare time is
// shared evenly. The public code uses the point where its interior point method stops;
// public.go does the same.
//
// Dictionary: X: account.x; T: account.pace, or, where an objective needs times, account.rate, in which a
// step counts by its statistical efficiency, as in iterations left; s: account.size; time that a job was
// to have and did not get: account.owed, seconds; w: Spec.Weight; iterations left: account.left.
//
// Deviation: steps a second come from the believed throughput with the batch size
// that the job trains with, because that may change by itself (Shockwave §2.3).
//
// Deviation: plans may be made more often than who runs changes (Options.Turn), because the
// scheduler's round is for all policies, and one that is shorter than a restart leaves jobs that
// take turns no time to do anything.
//
// Deviation: no two jobs share a GPU (§3.1, space sharing), because nothing here
// knows what they would do to each other.
//
// Deviation: fractions of jobs that ask for more GPUs than a type has are 0 there,
// because no round could give them.
package gavel
