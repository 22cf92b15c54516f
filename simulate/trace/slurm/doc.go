// Package slurm reads Slurm's accounting (output of sacct) and nodes (output of scontrol and sinfo).
//
// Read accepts tables with a header, separated by |, tabs or commas. Required columns are JobID, Submit,
// ElapsedRaw (or Elapsed, or Start and End) and one of ReqTRES, AllocTRES, ReqGRES and AllocGRES. It also
// accepts output of sacct --json, in schema v0.0.38 and with numbers and states of later ones.
//
// A requeued job has several rows with --duplicates. It counts as one job, submitted first and run last; its
// runs before a requeue count as waiting. A job arrives when it could start, its estimated duration is its time
// limit, and its priority is the logged one.
//
// Jobs of several clusters, and later jobs with the same number, are jobs of their own. Parts of a heterogeneous
// job are one job. Jobs with only parts of GPUs (MIG, shards) are dropped and counted.
//
// All jobs are held in memory (76 bytes each, plus names), because duplicates may be far apart.
package slurm
