// Package explain turns a journal into sentences. It answers what the owner of
// a job asks:
//
//   - At, for one moment: why is my job waiting, what would unblock it, and when
//     does it start?
//   - Life, for all of it: why did its GPUs change, and where did its time go?
//   - Now, for a live run: why does each job have what it has?
//
// # How a reason is decided
//
// This package does not look for reasons: the policy that made a decision gives
// one policy.Reason with it, of a closed list of kinds, with a configuration and
// two numbers. A sentence is made in three steps:
//
//  1. clusterState follows the recorded events and actions. For each job it
//     knows the GPUs held and the last reason, and for the cluster the free GPUs,
//     the prices and whether the last plan was refused. A round records a
//     decision only if it changed, so that a reason holds until another one
//     replaces it. When a job loses its GPUs, its reason no longer explains its
//     state, and it has none until the next round.
//  2. templates has one template for each kind. Its clause why says the
//     reason with its numbers; its clause unblock says what is known of the
//     rounds to come. Neither says what would give the job GPUs: package
//     counterfactual decides the round again, and its Change is
//     printed beside the sentence.
//  3. The template compares the reason's numbers with the state of the cluster
//     at that moment, which may have changed since the round: if the
//     GPUs that a job lacked in the last round are free now, the sentence says
//     both. A sentence must not contradict the state that is shown beside it.
//
// Numbers that differ must look different: "others gain 1 times as much" would
// explain nothing. apart prints as many digits as it takes, and
// calls the numbers equal if nine digits are not enough, because solvers are no
// more exact than that. The templates have words of their own for ties.
//
// A recording contains what came next. So At does not estimate when a waiting
// job starts: it reads on and tells it. Estimates are in package whatif.
//
// Reading is linear in the journal. The journal is read once, and only the
// state of the present moment is kept, with the changes of one job.
package explain
