// Package kube is the backend of a Kubernetes cluster: a scheduler.Backend for the Jobs, JobSets, TrainJobs and
// RayJobs of a queue.
//
// Do commits a plan to the queue's Plan object by compare-and-swap, the only commit point. An executor then makes the
// cluster match the plan, one step at a time. The starts of a job are numbered (its generations). A job gets a GPU
// only when no pod of another job uses it. Pods on unreachable nodes count as using it until the nodes are fenced.
//
// A new leader takes the next epoch by compare-and-swap. It plans only after its watches have seen everything that
// existed then, and each round waits for them to show the executor's writes. So a leader that was paused cannot
// commit, and late watches cause no plans from an outdated state. Admission rejects writes with an older epoch
// than the Plan. While the API server does not answer, running jobs continue.
//
// The packages of this folder; each imports only packages above it in this list:
//
//   - wire: formats shared with the command line
//   - api/v1alpha1: the kinds of Oxgang, labels and annotations
//   - inventory: pods, nodes of a queue, loans and rentals
//   - jobadapter: the kinds of jobs
//   - jobstate: the options of a queue, and the leader's state of each job
//   - planstore: the Plan object
//   - observe: the observation of the cluster
//   - execute: the next steps of jobs, and of rented or lent nodes
//   - kubetest: a cluster for tests
//   - view: the cluster on the command line
//   - kube: this package
//   - manager: the process, with a backend for each queue
package kube
