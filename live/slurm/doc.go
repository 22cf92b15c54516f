// Package slurm is a backend of live jobs in a Slurm: a scheduler.Backend whose jobs are the elastic
// jobs of one partition.
//
// Slurm owns nodes and jobs, and the Backend keeps nothing elsewhere. A job is one job of Slurm over all
// of its starts: it is held while nothing is planned for it, sized and released to start, and requeued
// and held to stop. Slurm runs a job once at a time, and gives no GPU twice, so whatever happens to
// schedulers, no start is doubled. What a scheduler must know again after a restart is in the job's
// AdminComment (package comment), and everything else is what Slurm shows.
package slurm
