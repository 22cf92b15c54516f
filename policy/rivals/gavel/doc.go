// Package gavel is the policy Gavel, which shares GPUs by time: an objective determines each job's fraction of time
// on each GPU type, and a mechanism turns the fractions into rounds. Jobs run with all requested GPUs or none.
//
// Source: Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads", OSDI
// 2020 (Gavel), and the policies that it and Shockwave (§8.2) compare with.
//
// The objectives, for job m with gang s, throughput T by type, and a matrix X of time fractions, within one per
// job and the GPUs of each type (§3.1):
//
//	maxmin    max min over m of (1/w) s ΣTX / throughput(m, X^equal)    §4.1
//	sum       max Σ ΣTX, in steps per second                            §4.2
//	ftf       min max over m of ρ = (age + left/ΣTX) / isolated time    §4.2
//	makespan  min max over m of left / ΣTX                              §4.2
//	allox     a matching of jobs with (machine, place from the last)    AlloX
//	stride    the same time for every job                               Gandiva-Fair
//
// The first four are programs of opt/barrier. Most have many optima, and a simplex method would give some jobs
// everything, which changes Shockwave's OSSP by 6 %. Fractions here are the end of the central path, so equal jobs
// are treated equally. The public code stops elsewhere; public.go does the same.
//
// Dictionary: X: account.x; T: account.pace, or account.rate, useful steps, if an objective needs times; s:
// account.size; time due minus time received: account.owed, seconds; w: Spec.Weight; iterations left:
// account.left.
//
// Deviation: throughput is at the present batch size, because that may change by itself (Shockwave §2.3).
//
// Deviation: jobs may change less often than plans (Options.Turn), because jobs that take turns in rounds shorter
// than a restart make no progress.
//
// Deviation: no two jobs share a GPU (§3.1), because their effect on each other is unknown.
//
// Deviation: fractions of jobs larger than a GPU type are 0 there, because no round could give them.
package gavel
