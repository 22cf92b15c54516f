// Package scheduler is the round-based scheduler: a deterministic state machine
// between a policy, which decides, and a Backend, which acts. Events go in (Step), and
// actions come out, from one plan in each round (Round). Scheduler.Run is the loop
// that connects it with a Backend.
//
// It reads no clock: the backend tells the time. The same events at the same times, with
// the same policy and placer, give the same actions. A journal can therefore be replayed.
//
// # A round
//
//  1. Snapshot: what is known of all jobs and nodes. Rows of jobs that did not change
//     are the same pointers as in the last snapshot, so that policies can keep what they
//     computed from them.
//  2. Plan: the policy decides what each job gets. Check refuses a plan that breaks a
//     rule, for example one that grants more GPUs than there are.
//  3. Place: the placer chooses the nodes. CheckPlacement refuses GPUs given twice.
//  4. diff: the actions that turn the present state into the plan. Preemptions come
//     first, so that GPUs are free before they are given to another job.
//
// If the policy fails or panics, or its plan is refused, every job keeps what it has in
// this round.
//
// The scheduler assumes that its actions succeed: diff records the planned state at
// once. What went wrong arrives as events (Exited with Lost, NodesChanged), and the next
// round plans with that.
package scheduler
