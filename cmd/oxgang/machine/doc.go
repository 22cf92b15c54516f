// Package machine has the commands for the scheduler of one machine: serve, submit, jobs, logs, cancel, top, prune,
// backup, restore.
package machine
