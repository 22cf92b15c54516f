// Package kube is the world of a Kubernetes cluster: a scheduler.Backend in which jobs are the
// Jobs, JobSets, TrainJobs and RayJobs of a queue, on the nodes of that queue.
//
// Do commits a plan to the Plan object of the queue, by compare-and-swap: that is the one
// commit point. A level-triggered executor then makes the cluster equal to what is committed:
// it compares what the watches show with the plan, and takes the next step towards it. It
// releases before it acquires: a GPU is given to a job when no pod of another is on it any
// more, and pods on nodes that do not answer are on them until they are fenced.
//
// A new leader reads the Plan from the API server, not from a watch, takes the next epoch by
// compare-and-swap, and waits until its watches have seen everything that was there then.
// Only then it plans. Each round waits until they have seen what the executor wrote. So one
// that was stopped for a while and wakes up cannot commit, and one whose watches are late
// does not plan on what is over. Admission holds the same line for pods and jobs: a write
// that carries an older epoch than the Plan is refused (docs/guide/kubernetes.md).
//
// Nothing is ever concluded from an API server that does not answer: what runs goes on.
package kube
