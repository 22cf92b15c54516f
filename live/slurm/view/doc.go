// Package view shows the state of a Slurm: running jobs, waiting jobs with reasons, and idle GPUs with causes.
//
// A Look is the state at one moment.
package view
