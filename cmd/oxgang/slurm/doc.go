// Package slurm holds the commands about a Slurm that runs.
package slurm
