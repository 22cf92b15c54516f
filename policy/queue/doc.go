// Package queue is the smallest real policy: jobs stand in line, and the first
// in line gets the GPUs it asked for, all of them or none, on one GPU type.
// Nothing about a job is adapted: an adaptive job runs as it was submitted.
//
// An Order says where in line a job stands; Options say whether jobs that run
// may lose their GPUs to jobs ahead of them, and whether a job may pass one
// ahead of it that does not fit. Three settings have names of their own:
//
//	FIFO  by submission     running jobs stay    nobody passes
//	SRTF  least time left   running jobs yield   smaller jobs may pass
//	LAS   least GPU service running jobs yield   smaller jobs may pass
//
// Tiresias is LAS with two queues instead of levels that double, and a knob against
// starvation.
//
// Start reading at Policy.Plan.
package queue
