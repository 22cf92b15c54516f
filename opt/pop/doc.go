// Package pop divides a large allocation problem into parts that are solved separately: POP, partitioned
// optimisation problems.
//
// It splits GPUs and jobs into k equal parts and solves every part. It is fast, because solvers are more than
// linear, and loses what requests of one part could have used of another. Large requests are split into fractions.
//
// Source: thesis §4.1 (Figure 4.1), §4.5.1, §5.2.2 ("4-way client-splitting").
//
// Split and Least assign things to parts;
package pop
