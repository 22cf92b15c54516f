// Package serve is the scheduler process of one machine: a driver.Driver over a local.Backend,
// with the store, the agent API and the control socket. Run is what "oxgang serve" does.
//
// When it ends, no job ends: the supervisors of jobs go on, and the next Run takes them over.
package serve
