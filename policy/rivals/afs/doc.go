// Package afs is the policy AFS-L. It grants GPUs one at a time, each to the job that wins every comparison: of two
// jobs, that one wins with which both together end soonest.
//
// Source: Hwang et al., "Elastic Resource Sharing for Distributed Deep Learning", NSDI 2021 (AFS-L, apathetic
// future share with job lengths known).
//
// Let job a be the one that would end first. If b gets the next GPU instead, b has it for longer, and gets a's
// GPUs when a ends. Both together end soonest if b gets the GPU when
//
//	(p'b - pb) / p'b > (p'a - pa) / pa
//
// for throughputs p now and p' with one GPU more, and if a gets it otherwise (TestRule_is_the_better_of_two). A
// job without GPUs counts as the longer one, or of two the shorter wins.
//
// A rigid job gets all requested GPUs at once, as if they were one GPU. So among rigid jobs alone, the shortest
// remaining time comes first.
//
// Dictionary: w, length: contender.left; p: contender.speed; p': contender.next; share: contender.gpus;
// TopPriority: top.
//
// Deviation: GPUs are divided when jobs or nodes come or go, because allocations should not change with every
// report.
//
// Deviation: on several GPU types a job keeps to one: its present type, or else the free type on which it is
// fastest with its fewest GPUs, because AFS has one type.
//
// Deviation: a GPU that would make no job faster stays idle, because throughput here depends on nodes and may
// fall.
package afs
