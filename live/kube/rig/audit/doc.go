// Package audit reads everything that a Kubernetes API server has written to etcd, in order, and checks invariants
// at every revision.
//
// An [Auditor] receives each [Change], maintains the [State], and runs its checks. A violation is a [Finding].
// [Follow] feeds an auditor from a running etcd with its own client, past the API server and any proxy under test.
//
// [All] returns all checks except [Accounts] and [Untouched]. [Settled] (I14) checks only the last state, and
// [Log] counts writes by manager (I13). An API server compacts etcd after five minutes, unless its cluster has
// Options.History. [Follow] and [Replay] fail if a part of the history is missing.
package audit
