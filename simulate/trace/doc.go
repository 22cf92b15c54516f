// Package trace reads and writes job traces, one file per format.
//
// Every reader streams: it takes an io.Reader, yields one workload.Arrival at
// a time, and keeps no more than the longest line allowed and, where the format
// names its jobs, the names seen so far. Rows need not be sorted by time; Sorted
// collects and sorts them.
//
// What a reader yields obeys four rules, whatever the input:
//
//  1. Spec.ID is not empty and no other arrival has it.
//  2. Spec.GPUs is from 1 to a million.
//  3. At, Duration and CancelAfter are not negative.
//  4. All floating-point fields are finite and not negative.
//
// Bad input names file, line, column and value and what was wanted instead:
//
//	w.csv:7:4: num_replicas "x3", want a whole number of at least 1
//
// Options.OnBadRow says whether that ends the reading. Rows that are well
// formed but are no job to schedule (0 GPUs, never started) are dropped and
// counted in a Summary, and so is what a reader had to invent.
//
// ReadLoad reads the load curve of an inference cluster, in which every row
// counts: a bad one ends the reading, in the same form.
package trace
