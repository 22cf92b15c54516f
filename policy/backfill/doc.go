// Package backfill simulates the schedule that EASY backfilling would have made of the same jobs, next to the real
// cluster. A policy compares each job with its twin in that schedule, and so knows which jobs it must not delay any
// longer.
//
// The idea comes from the Fair Sojourn Protocol: run the fair discipline virtually, and use the virtual completion
// times as deadlines of the real jobs. Source: Friedman and Henderson 2003, §3, which keeps processor sharing on one
// machine. Here the virtual discipline is EASY for parallel jobs (Lifka 1995, §2). The queue is ordered by priority
// and submission, and jobs run on the GPUs they request until they end. A job may pass the first one that does not
// fit only if it does not delay that job's expected start.
//
// Time. Twins start at the times of snapshots, as real jobs start in rounds, and not while the speed of their job is
// measured. Their GPUs are free again in the first round after their end.
//
// Nodes. A twin that fits by the number of free GPUs may find no nodes and wait, because policy easy counts GPUs and the
// placer (package submesh) chooses nodes afterwards. Nodes count as equally large within a type.
//
// Work. The time of the work that a job has done is measured while the job trains on the GPUs that it requests.
// Otherwise it is estimated by the goodput there, with the submitted batch size, or with the best one if the job adapts
// it. With exact estimates the twins start when policy easy starts the jobs. A job that states no work does not end
// virtually before it really ends. A wrong estimate moves the virtual end of the job itself and, as under EASY, of the
// jobs behind it.
//
// Jobs that have really ended stay in the schedule until they end there, because under EASY they would still hold
// GPUs. Jobs that have ended virtually stay until they really end.
package backfill
