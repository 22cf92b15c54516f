// Package scheduler is the round-based scheduler: a deterministic state machine between a
// policy, which decides, and a Backend, which acts. Step takes events, and Round returns
// the actions of one plan. Scheduler.Run connects both with a Backend.
//
// The backend has the clock. The same events at the same times, with the same policy and
// placer, give the same actions, so a journal can be replayed.
//
// # A round
//
//  1. Snapshot: the state of all jobs and nodes. Rows of jobs that did not change
//     are the same pointers as before, so policies can keep what they computed from them.
//  2. Plan: the policy decides what each job gets. Check refuses a plan that breaks a
//     rule, such as more GPUs than exist.
//  3. Place: the placer chooses the nodes. CheckPlacement refuses GPUs given twice.
//  4. diff: the actions that turn the present state into the plan, preemptions first.
//
// The scheduler assumes that its actions succeed: diff records the planned state at once.
// Failures arrive as events (Exited with Lost, NodesChanged) before the next round.
package scheduler
