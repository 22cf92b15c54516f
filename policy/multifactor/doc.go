// Package multifactor decides like Slurm with the plugins priority/multifactor, sched/backfill and
// select/cons_tres: priority grows with age, running jobs stay until they end, and jobs start in
// two ways.
//
//   - The main scheduler goes down the queue after every event. The first job that does not fit
//     blocks its queue, which is Slurm's partition, and the GPU types on which it may run.
//   - The backfill scheduler goes down the queue every 30 seconds. A job that does not fit gets
//     a reservation: entire nodes, from the time at which enough is free by the time limits of
//     running jobs, for as long as its own time limit. Later jobs start only on nodes without a
//     reservation within their time limit. So it is conservative backfilling by node, within a
//     window and a number of jobs.
//
// A job's priority is job.Spec.Priority plus the factors of Weights. If an accounting log contains
// priorities, they include the factors that do not change while a job waits. A job's time limit is
// job.Spec.Target if its length is given as a duration.
//
// It counts GPUs, and CPUs and memory on nodes that report them. Workers (job.Spec.WorkerGPUs) have
// a node each. Nodes are chosen as in select/cons_tres without topology: the first nodes of the
// shortest sufficient run of neighbours.
//
// Not replayed: preemption, requeueing, advance reservations, licences, dependencies, limits of
// users and accounts, features and weights of nodes, gang scheduling.
//
// Source: Slurm's documents "Multifactor Priority Plugin" and "Scheduling Configuration Guide", and
// slurm.conf(5).
package multifactor
