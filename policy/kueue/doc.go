// Package kueue decides as a cluster of Kubernetes does whose jobs Kueue admits and kube-scheduler places.
//
// Jobs wait in ClusterQueues. A queue has a quota of GPUs of each flavor, which is a kind of node. Queues of a cohort borrow
// from each other what others do not use: at most BorrowingLimit more than their own, and of another at most its LendingLimit.
// Kueue goes through cycles. In each it looks at the first job of every queue, by priority and then by submission, finds the first
// flavor that has quota for it, and admits these jobs one after another, those first that need not borrow, as long as what is left is
// enough. A job for which there is no quota steps aside until something happens (BestEffortFIFO), or blocks its queue (StrictFIFO).
//
// Quota says nothing of nodes. The pods of a job that was admitted are placed one by one, each on the node where the fewest CPUs are asked for
// among those with room, which is the default of kube-scheduler where nodes are alike, or on any of these where it is not known what CPUs nodes have. A job whose pods do not all
// fit waits on, its quota is used, and those that fit keep their nodes. Nothing is preempted.
//
// Here a round goes through as many cycles as admit or set aside all jobs, as Kueue's take milliseconds; and pods that wait for others of their
// job keep their nodes from jobs that were admitted later, not from those admitted before, so that jobs do not wait for each other for ever.
//
// Not replayed: preemption within a queue and reclaiming within a cohort, which are off by default; cohorts of cohorts; fair sharing;
// topology; admission checks; partial admission; quotas of other resources than GPUs.
//
// Source: Kueue's documents "ClusterQueue", "Cohort" and "Workload", and KEP-79 "Hierarchical Cohorts" for what may be borrowed.
package kueue
