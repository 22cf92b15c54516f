// Package gandiva slices time: jobs take turns on the GPUs in round-robin order, and elastic jobs
// grow on idle GPUs. It predicts nothing and needs no throughputs.
//
// Source: Xiao et al., "Gandiva: Introspective Cluster Scheduling for Deep Learning", OSDI 2018.
//
// A job keeps its GPUs for a slice of time. Then it goes behind all waiting jobs, but it runs on if
// no other job can use its GPUs. A job that grew shrinks to its request when others need the GPUs.
// Shrinking costs it a restart, but not its turn.
//
// Dictionary: time quantum: Options.Slice; run queue: Policy.line; suspended since: turn.since.
//
// Deviation: no two jobs are packed on a GPU (§3.1), because their effect on each other is unknown,
// and a GPU has one job here.
//
// Deviation: jobs do not migrate on trial (§3.2), because a placer chooses their nodes; it moves
// jobs against fragmentation.
//
// Deviation: a slice is at least ten restarts long, because a checkpoint may take minutes here,
// where Gandiva suspends a job in about a second; with slices of a minute jobs would only restart.
//
// Deviation: on several GPU types a job uses the type that it holds, or else the type with the most
// free GPUs, because Gandiva has machines of one type.
package gandiva
