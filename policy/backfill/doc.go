// Package backfill keeps, next to the real cluster, the schedule that EASY backfilling would have
// made of the same jobs. A policy compares each job with its twin in that schedule, and so knows
// which jobs it must not delay any longer.
//
// The idea is that of the Fair Sojourn Protocol: run the fair discipline virtually, and use the
// virtual completion times as deadlines of the real jobs. Source: Friedman and Henderson 2003, §3,
// which keeps processor sharing on one machine. Here the virtual discipline is EASY for parallel jobs
// (Lifka 1995, §2): the queue is ordered by priority and submission, jobs run on the GPUs they
// request until they end, and a job may pass the first one that does not fit only if it does not
// delay the expected start of that one.
//
// Time. Advance moves the virtual clock to the time of a snapshot, from one event to the next: the
// end of a virtual job, or a submission. So virtual times do not depend on the length of a round.
//
// Work. A job's virtual speed is the speed that the policy believes it has on the GPUs it requests,
// and its work is the work that the policy believes it has in all. Under exact beliefs the virtual schedule is the one
// that EASY would have made, but for nodes: GPUs of a type count together. A job that states no work
// does not end virtually before it really ends. A wrong estimate therefore moves
// the virtual end of the job itself and, as under EASY, of those behind it.
//
// Jobs that really have ended stay in the virtual schedule until they end there, because under EASY
// they would still hold GPUs. Jobs that have ended virtually stay until they really end.
//
// Cost. An event costs one pass over the virtual jobs: about 1 ms for 10,000.
package backfill
