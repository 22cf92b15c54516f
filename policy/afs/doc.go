// Package afs shares GPUs out one at a time: each goes to the job that wins a comparison of
// two with every other, of how much sooner both of them end.
//
// Source: Hwang et al., "Elastic Resource Sharing for Distributed Deep Learning", NSDI 2021
// (AFS-L, apathetic future share with job lengths known).
//
//	meet    the jobs, their lengths, and how fast each is with how many GPUs
//	divide  GPU after GPU, if jobs or GPUs came or went
//	give    the plan, and why the others wait
//
// Take two jobs, of which a would end first. With one GPU more a ends at once sooner; but b
// has the GPU all the longer if it gets it now, and a's GPUs when a has ended. If nobody else
// comes, both together end soonest if b gets it where
//
//	(p'b - pb) / p'b > (p'a - pa) / pa
//
// for throughputs p with what they have and p' with one GPU more, and a gets it otherwise
// (TestRule_is_the_better_of_two). Lengths thus say who is a, and no more: resource efficiency
// decides. A job with nothing counts as the longer, and wins unless the GPU makes the other
// twice as fast; of two with nothing the shorter one wins. So nearly all jobs have a GPU before
// some have many.
//
// Rigid jobs get all the GPUs they ask for, or none, as if those were one; with rigid jobs
// alone this is shortest remaining time first.
//
// Dictionary: w, length: contender.left; p: contender.speed; p': contender.next; share:
// contender.gpus; TopPriority: top.
//
// Deviation: GPUs are divided anew when jobs or nodes come or go, not at each change of what
// is believed of a job, because who has what should not change with every report.
//
// Deviation: on several GPU types a job has one, which it keeps: that it holds, or the one
// with room where it is fastest with the least it runs with, because AFS has one type.
//
// Deviation: a GPU that would make nobody faster stays idle, because throughput here counts
// nodes and may fall.
package afs
