// Package grant helps policies that decide job by job, such as queues. A policy opens a Round, grants
// allocations in its own order, and gives the other jobs reasons to wait. The Round tracks free GPUs and
// the limits of each job.
//
// It enforces the rules of every policy: jobs that are being profiled get nothing, non-preemptive jobs keep
// their GPUs, reservations come first, and no job gets more than is free.
package grant
