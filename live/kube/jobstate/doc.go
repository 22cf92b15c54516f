// Package jobstate holds what the leader knows of each job: its grant, its pods, its retries, and
// what its program has stated and measured. It also restores that from the Plan of the previous
// leader.
package jobstate
