// Package retention deletes what jobs that have ended leave in a state directory, by age and by
// size: their logs and starts, their checkpoints, journals but for the part that is being written, and
// what was learned from reports. It touches nothing of a job that runs, waits, or still has
// processes. The database keeps a row of every job, so that no other job gets its name.
package retention
