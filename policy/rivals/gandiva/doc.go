// Package gandiva slices time: jobs take turns on the GPUs in round-robin order, and elastic
// jobs grow on idle GPUs. It predicts nothing and knows no throughputs.
//
// Source: Xiao et al., "Gandiva: Introspective Cluster Scheduling for Deep Learning",
// OSDI 2018.
//
//	turn    who runs on, who has had its slice, who waits for how long
//	serve   gangs in that order: over-subscription by suspending and resuming (§3.1)
//	grow    elastic jobs beyond what they asked for, on GPUs that no other job can use (§3.3),
//	        as a slice begins
//	give    the plan, and why the others wait
//
// A job keeps its GPUs for a slice of time. Then it goes behind all waiting jobs, and runs
// again when those have had their slices. If no other job can use its GPUs, it runs on. A job
// that grew shrinks to what it asked for as soon as others need the GPUs: shrinking costs it a
// restart, but not its turn.
//
// Dictionary: time quantum: Options.Slice; run queue: Policy.line; suspended since:
// turn.since.
//
// Deviation: no two jobs are packed on a GPU (§3.1), because nothing here knows what they
// would do to each other, and a GPU has one job here.
//
// Deviation: jobs do not migrate to better places on trial (§3.2), because a placer decides
// where they are; it moves jobs to mend fragmentation.
//
// Deviation: a slice is at least ten restarts long, because jobs are suspended here by a
// checkpoint that may take minutes, where Gandiva takes about a second: with slices of a minute
// jobs would only restart.
//
// Deviation: on several GPU types a job goes to the one it holds, or else to the one with most
// GPUs free, because Gandiva has machines of one type.
package gandiva
