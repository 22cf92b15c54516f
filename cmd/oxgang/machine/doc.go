// Package machine has the commands for the scheduler of one machine: serve, submit, jobs, logs, cancel, top, prune
// and backup.
package machine
