// Package kueue decides like a Kubernetes cluster in which Kueue admits jobs and kube-scheduler
// places their pods.
//
// Jobs wait in ClusterQueues. A queue has a quota of GPUs per flavor, which is a kind of node.
// Queues of a cohort borrow unused quota from each other, up to the borrower's BorrowingLimit and
// the lender's LendingLimit. Kueue works in cycles. In each it takes the first job of every queue,
// by priority and submission, finds the first flavor with quota, and admits these jobs in turn,
// those that do not borrow first, while quota is left. A job without quota steps aside until
// something changes (BestEffortFIFO), or blocks its queue (StrictFIFO).
//
// Admitted pods are placed one by one, on the node with room and the fewest requested CPUs, which
// is kube-scheduler's default for equal nodes; if the CPUs of nodes are unknown, on any node with
// room. A job whose pods do not all fit keeps waiting: it uses its quota, and pods that fit keep
// their nodes. Nothing is preempted.
//
// A round here runs cycles until every job is admitted or set aside, because Kueue's cycles take
// milliseconds. Waiting pods keep their nodes only from jobs that were admitted later, so that jobs
// do not wait for each other for ever.
//
// Not replayed: preemption within a queue and reclaiming within a cohort, which are off by default;
// cohorts of cohorts; fair sharing; topology; admission checks; partial admission; quotas of
// resources other than GPUs.
//
// Source: Kueue's documents "ClusterQueue", "Cohort" and "Workload", and KEP-79 "Hierarchical
// Cohorts" for what may be borrowed.
package kueue
