// Package view shows the state of a Slurm: running jobs, waiting jobs with reasons, and idle GPUs with causes.
// It needs only the rights of an ordinary account, and changes nothing.
//
// A Look is the state at one moment. StatusOf uses nothing else, not even a clock.
package view
