// Package explain turns a journal into sentences for the owner of a job:
//
//   - At, for one moment: why is my job waiting, what would unblock it, and when
//     does it start?
//   - Life, for all of it: why did its GPUs change, and where did its time go?
//   - Now, for a live run: why does each job have what it has?
//
// The policy that decides adds one policy.Reason to each decision: a kind of a closed list, a configuration and
// two numbers. A sentence is made in three steps:
//
//  1. clusterState applies the recorded events and actions. A reason holds until
//     another one replaces it. A job that loses its GPUs has none until the next round.
//  2. templates has one template for each kind. Its clause why states the fact,
//     unblock what later rounds may change, and details the prices and speeds.
//     Package counterfactual finds the changes that would give the job GPUs.
//  3. The template compares the reason with the present cluster: GPUs may have
//     become free since the round.
//
// Package whatif has estimates.
package explain
