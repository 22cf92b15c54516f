// Package jobstate holds what the leader knows of each job: its grant, its pods, its retries, what its program said
// and measured. It also restores that from the Plan of the leader before.
package jobstate
