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
// Time. Advance moves the virtual clock to the time of a snapshot, from one event to the next: the end of a virtual
// job, or a submission. So virtual times do not depend on the length of a round.
//
// Work. A job's virtual speed is the policy's estimate for the GPUs it requests, and its work is the policy's
// estimate of its whole work. With exact estimates the schedule is the one that EASY would have made, except that a
// placer may choose other nodes. A job that states no work does not end virtually before it really ends. A wrong
// estimate moves the virtual end of the job itself and, as under EASY, of the jobs behind it.
//
// Jobs that have really ended stay in the schedule until they end there, because under EASY they would still hold
// GPUs. Jobs that have ended virtually stay until they really end.
package backfill
