// Package bestfit places jobs best-fit decreasing, and moves none that runs.
//
// Source: Lyra §5.3: "Jobs are sorted in decreasing order of their per-worker GPU demand.
// Starting from the largest job, we place each worker of the job into a non-empty server that
// best fits its demand; if none has sufficient remaining resources, we place it on a new
// server."
//
//	room.go      what nodes have left, and the best of them for some GPUs
//	bestfit.go   a placement.Placer of whole plans
//
// Deviation: the workers of a job go together where a server holds them, because a job on
// fewer servers shares fewer with others: fewer jobs are preempted when servers are reclaimed.
package bestfit
