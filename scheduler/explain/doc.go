// Package explain turns a journal into sentences for the owner of a job:
//
//   - At, for one moment: why is my job waiting, what would unblock it, and when
//     does it start?
//   - Life, for all of it: why did its GPUs change, and where did its time go?
//   - Now, for a live run: why does each job have what it has?
//
// # How a reason is explained
//
// This package does not look for reasons. The policy that decided adds one
// policy.Reason to each decision: a kind of a closed list, a configuration and
// two numbers. A sentence is made in three steps:
//
//  1. clusterState applies the recorded events and actions. It has the GPUs and
//     the last reason of each job, the free GPUs, the prices, and whether the last
//     plan was refused. A round records a decision only if it changed, so a reason
//     holds until another one replaces it. A job that loses its GPUs has no reason
//     until the next round.
//  2. templates has one template for each kind. The clause why states the fact
//     with names and numbers. The clause unblock says what later rounds may
//     change. The clause details has the prices and speeds, which only
//     WriteDetails prints. None of them says what would give the job GPUs:
//     package counterfactual decides the round again to find that.
//  3. The template compares the reason with the present state of the cluster. If
//     GPUs that a job lacked in the last round are free now, the sentence says so.
//     A sentence must not contradict the state that is printed next to it.
//
// Numbers that differ must look different: "1 times as fast" would explain
// nothing. apart prints as many digits as it takes, and calls numbers equal if
// nine digits are not enough, because solvers are no more exact.
//
// A recording contains what came next, so At reads it there instead of estimating
// it. Estimates are in package whatif.
//
// Reading is linear in the journal. It keeps only the present state and the
// changes of one job.
package explain
