// Package slurm reads the accounting of Slurm, as sacct prints it, and the nodes, as scontrol
// and sinfo print them.
//
// Read takes tables with a header, separated by |, tabs or commas, with any columns among
// which are JobID, Submit, ElapsedRaw (or Elapsed, or Start and End) and one of ReqTRES,
// AllocTRES, ReqGRES and AllocGRES; and what sacct --json prints, in the schema v0.0.38 and
// with the numbers and states of later ones. What cannot be read is refused with the command that exports it: Export.
//
// A job that was requeued has several rows with --duplicates. It is one job: submitted when it
// first was, and run as it ran last. Runs that were cut short count as waiting.
//
// A job comes when it could start, is believed to take as long as its time limit, and has the
// priority that the log says. History also returns when it started and ended.
//
// All jobs are held in memory, because duplicates need not follow one another: 52 bytes each, and
// their names.
package slurm
