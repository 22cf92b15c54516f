// Package jobstate holds the leader's state of each job, and restores it from the previous leader's Plan.
package jobstate
