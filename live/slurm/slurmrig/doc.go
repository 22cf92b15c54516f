//go:build linux

// Package slurmrig starts a real Slurm on this machine for tests: munged, slurmctld, one slurmd for
// each node, and, if asked, slurmdbd on a MariaDB. Its GPUs are device files that lead to /dev/null,
// so that jobs see CUDA_VISIBLE_DEVICES as on real ones. All files lie in a folder of its own, and
// all daemons listen on free ports, those of nodes and controller on 127.0.0.1.
//
// It takes root and Debian's packages slurmctld, slurmd, slurm-client, slurmdbd, munge and
// mariadb-server; Start skips a test with the reason where something is missing, and where
// SLURMRIG is not set: make slurm-test sets it.
package slurmrig
