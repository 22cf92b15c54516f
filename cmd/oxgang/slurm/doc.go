// Package slurm has the commands of oxgang for Slurm clusters.
package slurm
