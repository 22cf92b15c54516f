// Package kube is the backend of a Kubernetes cluster: a scheduler.Backend in which jobs are the
// Jobs, JobSets, TrainJobs and RayJobs of a queue, on the nodes of that queue.
//
// Do commits a plan to the Plan object of the queue by compare-and-swap. This is the only commit
// point. A level-triggered executor then makes the cluster equal to the committed plan: it
// compares what the watches show with the plan, and takes the next step. It releases before it
// acquires: a GPU is given to a job only when no pod of another job uses it any more. Pods on
// nodes that do not answer count as using it until the nodes are fenced.
//
// A new leader reads the Plan from the API server, not from a watch, and takes the next epoch by
// compare-and-swap. It plans only after its watches have seen everything that existed at that
// time, and each round waits until they have seen what the executor wrote. Pods that the watch is
// late to show are read from the API server instead. So a leader that was
// stopped for a while cannot commit when it wakes up, because its epoch is old; and a leader
// whose watches are late does not plan for a state that is over. Admission keeps the same rule for
// pods and jobs: a write with an older epoch than the Plan's is refused
// (docs/guide/kubernetes.md).
//
// If the API server does not answer, the scheduler concludes nothing from that, and running jobs
// go on.
//
// The packages of this folder from low to high; each imports only packages above it in this list:
//
//   - wire: formats that the scheduler shares with the command line
//   - api/v1alpha1: the kinds of Oxgang, and the labels and annotations of jobs
//   - phase: the phases of a job, and what moves it from one to another
//   - pods: what a pod requests, where it may run, and which pods are watched
//   - claims: which pod sends a message, and what Kubeflow Trainer reports
//   - inventory: nodes of a queue, its loans and rentals
//   - jobadapter: the kinds of jobs, read and written
//   - config: the options of a queue
//   - jobstate: all that the leader knows of a job
//   - planstore: the Plan object
//   - observe: what the watches show
//   - execute: the next steps of jobs
//   - nodepool: the next steps of nodes that are rented or lent
//   - kubetest: a cluster for tests
//   - view: what the command line shows of a cluster
//   - kube: this package
//   - manager: the process with a backend for each queue
package kube
