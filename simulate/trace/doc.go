// Package trace reads and writes job traces, one file per format.
//
// Readers stream: they yield one workload.Arrival at a time and store no more than the longest allowed line
// and, if the format names its jobs, the names so far. Rows need not be sorted; parse.Sorted collects and
// sorts them.
//
// All arrivals obey four rules:
//
//  1. Spec.ID is not empty and unique.
//  2. Spec.GPUs is 1 to a million.
//  3. At, Duration and CancelAfter are not negative.
//  4. All floating-point fields are finite and not negative.
//
// Errors name file, line, column, the value and what was wanted:
//
//	w.csv:7:4: num_replicas "x3", want a whole number of at least 1
//
// Options.OnBadRow selects whether an error ends the reading. Well-formed rows that are not a job to schedule
// (0 GPUs, never started) are dropped. A Summary counts dropped rows and invented values.
//
// parse.ReadLoad reads the load curve of an inference cluster. A bad row always ends it.
package trace
