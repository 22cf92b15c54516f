//go:build linux

// Package slurmrig starts a real Slurm on this machine for tests. Its GPUs are device files that lead to
// /dev/null, so jobs see CUDA_VISIBLE_DEVICES. All files lie in one folder, and all daemons listen on free ports.
//
// It needs root and Debian's packages slurmctld, slurmd, slurm-client, slurmdbd, munge and mariadb-server.
// Start skips the test if something is missing or SLURMRIG is not set; make slurm-test sets it.
package slurmrig
