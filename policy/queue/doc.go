// Package queue is the smallest real policy: jobs wait in a queue, and the first gets the GPUs
// it asked for, all of them or none, on one GPU type. Nothing about a job is adapted: an
// adaptive job runs as it was submitted.
//
// An Order gives a job its place in the queue; Options say whether jobs that run may lose their
// GPUs to jobs ahead of them, and whether a job may pass one ahead of it that does not fit.
// Four settings have names of their own:
//
//	FIFO  by submission     running jobs stay    nobody passes
//	EASY  by priority       running jobs stay    jobs may pass that do not delay the first
//	SRTF  least time left   running jobs yield   smaller jobs may pass
//	LAS   least GPU service running jobs yield   smaller jobs may pass
//
// Tiresias is LAS with two queues instead of levels that double, and a setting against
// starvation.
//
// Start reading at Policy.Plan.
package queue
