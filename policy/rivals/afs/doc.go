// Package afs shares GPUs out one at a time. Each GPU goes to the job that wins the comparison
// in pairs with every other job: the comparison asks with which of the two both together end
// sooner.
//
// Source: Hwang et al., "Elastic Resource Sharing for Distributed Deep Learning", NSDI 2021
// (AFS-L, apathetic future share with job lengths known).
//
//	meet    the jobs, their lengths, and how fast each is with how many GPUs
//	divide  GPU after GPU, if jobs or GPUs came or went
//	give    the plan, and why the others wait
//
// Take two jobs a and b, of which a would end first. With one GPU more, a ends sooner. If b
// gets the GPU instead, b has it for longer, and gets a's GPUs when a ends. If no other job
// comes, both together end soonest if b gets the GPU where
//
//	(p'b - pb) / p'b > (p'a - pa) / pa
//
// for throughputs p with what they have and p' with one GPU more, and a gets it otherwise
// (TestRule_is_the_better_of_two). Lengths thus decide only which job is a; the rest is
// resource efficiency. A job without GPUs counts as the longer, and wins unless the GPU makes
// the other twice as fast. Of two jobs without GPUs the shorter one wins. So nearly all jobs
// have a GPU before some have many.
//
// A rigid job gets all the GPUs it asks for, or none, as if they were one GPU. With rigid jobs
// alone this is shortest remaining time first.
//
// Dictionary: w, length: contender.left; p: contender.speed; p': contender.next; share:
// contender.gpus; TopPriority: top.
//
// Deviation: GPUs are divided anew when jobs or nodes come or go, not at each change of what is
// believed of a job, because allocations should not change with every report.
//
// Deviation: on several GPU types a job has GPUs of one type and keeps it: the type that it
// holds, or else the type with room on which it is fastest with its fewest GPUs, because AFS
// has one type.
//
// Deviation: a GPU that would make no job faster stays idle, because throughput here counts
// nodes and may fall.
package afs
