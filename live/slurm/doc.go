// Package slurm is the backend for the elastic jobs of one Slurm partition. It observes the partition (Observe),
// compares it with the plan (Steps), and sends Slurm the next commands (Writer). OrderSteps and Undo change only
// the order in which jobs wait.
//
// Slurm owns nodes and jobs. A job keeps its Slurm job ID over all of its starts: it is held until it is planned,
// then resized and released, and requeued and held to stop. Slurm never runs a job twice at once or assigns a GPU
// twice. The state that a scheduler needs after a restart is in the job's AdminComment (package comment).
package slurm
