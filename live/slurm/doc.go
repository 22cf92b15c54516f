// Package slurm schedules one Slurm partition. A Service observes, plans and sends commands in each round, within the
// limits of the administrator's Config. In mode Order, an Orderer changes the order in which jobs wait (orderSteps,
// undoSteps). In mode Resize, a Backend observes the elastic jobs (observe), compares them with the plan (steps), and
// sends Slurm the next commands (Writer).
//
// Slurm owns nodes and jobs. A job keeps its Slurm job ID over all of its starts: it is held until it is planned,
// then resized and released, and requeued and held to stop. Slurm never runs a job twice at once or assigns a GPU
// twice. The state that a scheduler needs after a restart is in the job's AdminComment (package comment).
package slurm
