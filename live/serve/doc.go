// Package serve puts the scheduler of one machine together: the store, the world of package
// local, the policy, the agent API, the control socket and the journal. Run is what "oxgang
// serve" does.
//
// Ending it ends no job: their keepers go on, and the next Run takes them up.
package serve
