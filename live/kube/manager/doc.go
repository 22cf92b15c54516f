// Package manager is the scheduler process of a Kubernetes cluster. Of several processes one
// leads. The leader runs one scheduler for every Queue that is not off: a driver.Driver over a
// kube.Backend. It also writes the status of the Queues and answers the agents of jobs.
package manager
