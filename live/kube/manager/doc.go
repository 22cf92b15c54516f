// Package manager is the scheduler process of a Kubernetes cluster. The leader runs a driver.Driver over a
// kube.Backend for each active Queue, writes the Queues' status, and serves the agent API.
package manager
