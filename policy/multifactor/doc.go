// Package multifactor decides as Slurm does with the plugins priority/multifactor, sched/backfill
// and select/cons_tres: jobs have a priority that grows with their age, running jobs stay until
// they end, and there are two ways to start.
//
//   - The main scheduler goes down the queue whenever something has happened. The first job that
//     does not fit blocks all jobs of its queue, which is Slurm's partition, and all nodes on which
//     it might run.
//   - The backfill scheduler goes down the queue every 30 seconds. A job that does not fit is
//     given a reservation: whole nodes, from the time on at which enough is free there by the time
//     limits of what runs, for as long as its own time limit. Jobs behind it start only on nodes that are
//     not reserved before their own time limit is over. So it is conservative backfilling within
//     a window and a number of jobs, by node.
//
// A job's priority is what was submitted with it (job.Spec.Priority) plus the factors that Weights
// name. Where an accounting log has priorities, the factors that do not change while a job waits
// (partition, quality of service, size, fair-share as it was) are in them. A time limit is job.Spec.Target
// of a job that is known by its duration.
//
// It counts GPUs, and CPUs and memory on nodes that say what they have. A job of several workers
// (job.Spec.WorkerGPUs) has each on a node of its own. Nodes are chosen as select/cons_tres does without topology:
// the shortest run of neighbours that is long enough, its first nodes.
//
// Not replayed: preemption, requeueing, advance reservations, licences, dependencies, limits of
// users and accounts, features and weights of nodes, gang scheduling.
//
// Source: Slurm's documents "Multifactor Priority Plugin" and "Scheduling Configuration Guide", and slurm.conf(5).
package multifactor
