// Package kube is the backend of a Kubernetes cluster: a scheduler.Backend whose jobs are the Jobs, JobSets,
// TrainJobs and RayJobs of a queue.
//
// Do commits a plan to the queue's Plan object by compare-and-swap, which is the only commit point. An executor then
// makes the cluster match the plan: it compares the watches with the plan and takes the next step. It releases GPUs
// before it acquires them: a job gets a GPU only when no pod of another job uses it. Pods on unreachable nodes count
// as using it until the nodes are fenced.
//
// A new leader reads the Plan from the API server and takes the next epoch by compare-and-swap. It plans only after
// its watches have seen everything that existed then. Each round waits until the watches show the executor's writes,
// or reads late pods from the API server. So a leader that was paused cannot commit, because its epoch is old, and a
// leader with late watches does not plan from an outdated state. Admission rejects writes to pods and jobs with an
// older epoch than the Plan (docs/guide/kubernetes.md). While the API server does not answer, running jobs continue.
//
// The packages of this folder from low to high; each imports only packages above it in this list:
//
//   - wire: formats that the scheduler shares with the command line
//   - api/v1alpha1: the kinds of Oxgang, and the labels and annotations of jobs
//   - phase: the phases of a job and their transitions
//   - pods: requests and nodes of pods, the index of watched pods, and lists of the API server
//   - claims: the sender of a message, and the progress that Kubeflow Trainer reports
//   - inventory: nodes of a queue, loans and rentals
//   - jobadapter: the kinds of jobs, read and written
//   - config: the options of a queue
//   - jobstate: the leader's state of each job
//   - planstore: the Plan object
//   - observe: the observation of the cluster
//   - execute: the next steps of jobs
//   - nodepool: the next steps of rented or lent nodes
//   - kubetest: a cluster for tests
//   - view: the cluster as the command line shows it
//   - kube: this package
//   - manager: the process, with a backend for each queue
package kube
