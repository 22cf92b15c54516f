// Package jobstate holds the leader's state of each job: its grant, pods, retries, and what its program has reported.
// It restores that state from the Plan of the previous leader.
package jobstate
