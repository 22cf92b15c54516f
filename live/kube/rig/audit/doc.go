// Package audit reads everything that a Kubernetes API server has written to etcd, in order, and checks invariants
// at every revision.
//
// An [Auditor] maintains the [State], and runs its checks on each [Change]. A violation is a [Finding]. [Follow]
// feeds an auditor from a running etcd with its own client, past any proxy under test.
//
// [All] returns all checks except [Accounts] and [Untouched]. An API server compacts etcd after five minutes,
// unless its cluster has Options.History. [Follow] and [Replay] fail if a part of the history is missing.
package audit
