// Package machine holds the commands of the scheduler of one machine: serve, submit, jobs, logs, cancel, top, prune, backup, restore.
package machine
