// Package gandiva is the policy Gandiva, which slices time: jobs take turns on the GPUs in round-robin order, and
// elastic jobs grow on idle GPUs.
//
// Source: Xiao et al., "Gandiva: Introspective Cluster Scheduling for Deep Learning", OSDI 2018.
//
// A job keeps its GPUs for a slice. Then it goes behind all waiting jobs, but it runs on if no other job can use
// its GPUs. A grown job shrinks, by a restart, when others need the GPUs.
//
// Dictionary: time quantum: Options.Slice; run queue: Policy.line; suspended since: turn.since.
//
// Deviation: no two jobs are packed on a GPU (§3.1), because their effect on each other is unknown, and a GPU has
// one job here.
//
// Deviation: jobs do not migrate on trial (§3.2), because a placer chooses their nodes; it moves jobs against
// fragmentation.
//
// Deviation: a slice is at least ten restarts long, because a checkpoint may take minutes here, where Gandiva
// suspends a job in about a second.
//
// Deviation: of several GPU types a job keeps its own, or else takes the one with the most free GPUs, because
// Gandiva has one type.
package gandiva
