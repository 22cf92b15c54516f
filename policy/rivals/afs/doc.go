// Package afs shares out GPUs one at a time. Each GPU goes to the job that wins a pairwise
// comparison against every other job: it goes to that one of two jobs with which both together end
// soonest.
//
// Source: Hwang et al., "Elastic Resource Sharing for Distributed Deep Learning", NSDI 2021 (AFS-L,
// apathetic future share with job lengths known).
//
// Let job a be the one that would end first. With one GPU more, a ends sooner. If b gets the GPU
// instead, b has it for longer, and gets a's GPUs when a ends. Both together end soonest if b gets
// the GPU when
//
//	(p'b - pb) / p'b > (p'a - pa) / pa
//
// for throughputs p now and p' with one GPU more, and if a gets it otherwise
// (TestRule_is_the_better_of_two). A job without GPUs counts as the longer one, and wins unless the
// GPU makes the other job twice as fast. The shorter of two jobs without GPUs wins.
//
// A rigid job gets all requested GPUs at once, as if they were one GPU. For rigid jobs alone this
// is shortest remaining time first.
//
// Dictionary: w, length: contender.left; p: contender.speed; p': contender.next; share:
// contender.gpus; TopPriority: top.
//
// Deviation: GPUs are divided when jobs or nodes come or go, not at each change of an estimate,
// because allocations should not change with every report.
//
// Deviation: on several GPU types a job keeps to one type: the type that it holds, or else the free
// type on which it is fastest with its fewest GPUs, because AFS has one type.
//
// Deviation: a GPU that would make no job faster stays idle, because throughput here depends on
// nodes and may fall.
package afs
