// Package serve is the scheduler process of one machine ("oxgang serve"): a driver.Driver with a local.Backend, the
// store, the agent API and the control socket. Jobs outlive the process; the next Run takes them over.
package serve
