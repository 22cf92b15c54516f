// Package pop divides a large allocation problem into parts that are solved separately: POP, partitioned
// optimisation problems.
//
// It splits GPUs and jobs into k equal parts and solves every part. This is fast, because the time of solvers grows
// faster than the problem. The result is worse, because jobs cannot use GPUs of another part. Large requests are
// split into fractions.
//
// Source: thesis §4.1 (Figure 4.1), §4.5.1, §5.2.2 ("4-way client-splitting").
package pop
