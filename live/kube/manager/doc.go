// Package manager is the scheduler process of a Kubernetes cluster. One process leads. It runs a driver.Driver over a
// kube.Backend for each active Queue, writes the Queues' status, and serves the agent API.
package manager
