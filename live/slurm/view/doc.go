// Package view shows the state of a Slurm cluster: running jobs, waiting jobs with reasons, and idle GPUs with
// causes.
package view
