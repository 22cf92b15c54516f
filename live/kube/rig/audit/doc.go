// Package audit reads everything that a Kubernetes API server has written to etcd, in order, and checks
// invariants at every revision.
//
// An [Auditor] receives each [Change], maintains the [State], and runs its checks. A violation is a [Finding].
// [Follow] feeds an auditor from a running etcd with its own client, past the API server and any proxy under
// test.
//
// The checks and their invariants:
//
//	Capacity          I1   bound pods of a node request no more than it has
//	Pinned            I1   the same, including pods that are pinned to it and released
//	Repair            I2   a node with less capacity than is used is relieved in time
//	Generations       I4   no two generations of a job are live at once
//	Gang              I4   all pods of a generation are released, or none, except briefly
//	NonPreemptible    I6   a non-preemptible job keeps its pods until it ends
//	Plans             I11  epochs and rounds of a plan never decrease
//	Epochs            I17  no write has an epoch above its plan's, or below an earlier write's
//	Fence             I17  no write has an epoch below its plan's
//	EndsOnce          I15  an ended job stays ended, in one way, and starts no more pods
//	Most              rent  a group has no more nodes than its maximum
//	Vacated           rent  no rented node is returned with a job on it
//	Loan              I8   a lent node is returned without pods of the borrowing queue
//	Tenancy           I20  a queue gives GPUs only to the namespaces that may use it
//	Accounts          I21  pods of a job hold no more GPUs than its plan gives it (not in All)
//	Untouched         nobody stops the pods of a namespace (not in All)
//
// [Settled] (I14) checks only the last state, and [Log] counts writes by manager (I13). An API server compacts
// etcd after five minutes, unless its cluster has Options.History. [Follow] and [Replay] fail if a part of the
// history is missing.
package audit
