// Package live has the commands of oxgang for real jobs: on one machine, on Kubernetes and on Slurm.
package live
