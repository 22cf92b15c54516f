// Package jobstate stores what the leader knows about each job, and restores it from the Plan of the previous leader.
package jobstate
