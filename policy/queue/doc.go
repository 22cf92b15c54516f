// Package queue has policies that serve jobs in the order of a queue. A job gets the GPUs that it requests,
// on one GPU type, or waits.
//
// An Order sorts the queue. Options determine whether a job may preempt jobs behind it in the queue, and
// whether it may pass a job ahead of it that does not fit:
//
//	FIFO  by submission     no preemption   no passing
//	EASY  by priority       no preemption   jobs may pass if they do not delay the first
//	SRTF  least time left   preemption      smaller jobs may pass
//	LAS   least GPU service preemption      smaller jobs may pass
//
// Tiresias is LAS with two queues instead of doubling levels, and an option against starvation.
package queue
