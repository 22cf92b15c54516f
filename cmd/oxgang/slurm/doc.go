// Package slurm has the commands for Slurm clusters.
package slurm
