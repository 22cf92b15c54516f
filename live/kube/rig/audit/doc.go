// Package audit reads everything that a Kubernetes API server has ever written to etcd, in the
// one order in which it was written, and holds invariants against it at every revision.
//
// An [Auditor] is told of one [Change] after another, keeps the [State] that they lead to, and
// asks its checks. A check is one sentence about states or changes; what contradicts it is a
// [Finding]. [Follow] feeds an auditor from a running etcd with a client of its own, past the
// API server and whatever stands between it and the programs that are tested.
//
// The checks and the invariants that they hold:
//
//	Capacity          I1   bound pods of a node ask for no more than it has
//	Pinned            I1   the same, with pods that are pinned to it and not held back
//	Repair            I2   a node that came to have less than is used is relieved in time
//	Generations       I4   no two generations of a job are live at once
//	Gang              I4   of a generation all pods are let go, or none, but for a while
//	NonPreemptible    I6   a job that may not be stopped keeps its pods until it ends
//	Plans             I11  epochs and rounds of a plan never decrease
//	Epochs            I17  no write has an epoch above its plan's, or below an earlier write's
//	Fence             I17  no write has an epoch below its plan's
//	EndsOnce          I15  what has ended stays ended, one way, and starts no more pods
//	Most              rent  no more nodes of a group than there may be
//	Vacated           rent  no rented node that is given back goes with a job on it
//	Loan              I8   a node on loan goes back without pods of the queue that it was lent to
//	Tenancy           I20  a queue gives GPUs only to the namespaces that may use it
//	Accounts          I21  pods of a job hold no more GPUs than its plan gives it (not among All)
//	Untouched         pods of a namespace are stopped by nobody (not among All)
//
// Beside them [Settled] (I14) looks at one state, the last, and [Log] counts who wrote how
// much (I13). An API server compacts etcd after five minutes, unless the options of
// its cluster say History: what a history lacks cannot be audited, and [Follow] and [Replay] say so.
package audit
