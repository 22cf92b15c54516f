// Package pop cuts a large allocation problem into parts that are solved on
// their own: POP, partitioned optimisation problems.
//
// "POP-k partitions the set of GPUs and jobs into k equal sizes (whenever
// possible)" and solves every part: a k-th of the requests shares a k-th of the
// resources. It is quick, because solvers are worse than linear, and loses what
// requests of one part could have taken of another. Requests that weigh much are
// split into several of a fraction each, so that no part has to hold one whole.
//
// Source: thesis §4.1 (Figure 4.1), §4.5.1, §5.2.2 ("4-way client-splitting").
//
// Split and Balance assign things to parts, SplitClients makes few large things
// many smaller ones. What a part's problem is, and how to solve it, is the
// caller's.
package pop
