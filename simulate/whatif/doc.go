// Package whatif answers questions about a run of real training jobs by simulation. It makes a simulated world
// (sim.World) from what the run has learned about its jobs, and runs the same policy on it.
//
//   - Ahead simulates the present state forward: when does each job start and end?
//   - Unblock decides a recorded round again: which change would have given a job GPUs?
//   - Compare simulates a recorded run again: how well does the simulation predict it?
//   - Replay passes a recorded run to the policy again: does it decide the same?
//
// # The simulated copy of a run
//
// Ahead and Compare simulate a copy of each job. Its ground truth is what the run has learned about the real job:
//
//   - Speed: the scheduler's performance model times the job's pace, which is the real progress
//     over the progress that follows from reported step times (Learner).
//   - Statistical efficiency: from the gradient statistics that reports had in each epoch.
//   - Time of a restart: the mean of this job, else of its class, else of its specification.
//     Compare repeats each start with its own measured time.
//   - Work: the job's target or, if it ended at other work, what it did.
//   - A job without reports has only its GPU time: its copy has that duration and linear
//     speed-up.
//
// In Ahead the scheduler of the copy has the same models from the start (estimate.Oracle); in Compare it learns them
// from the reports of the copies. In Compare nodes change and jobs fail at the times of the run; in Ahead nothing
// fails. A job on GPUs of two types at once cannot be simulated.
//
// # Ahead
//
// A copy of the policy continues in its state after the last round (Decided), because a new policy would lack its
// accounts and windows.
//
// Ahead runs two scenarios: without new jobs, and with new jobs like the present ones at the rate of the past, less
// the longer none has come (submissions). New jobs may also make a job start earlier, so a guess has the earlier and
// the later of the two times.
//
// A job continues like others of its class: speeds, restarts, gradient statistics in later epochs, and durations.
// Beyond what any of them has reached, the efficiency is 1 in the first scenario, and the present one in the second:
// as training continues, large batches lose less (Pollux §3.1).
//
// A scenario ends when all jobs with a known end have ended and all other waiting jobs have started, after
// Options.Rounds rounds, or when for long nothing awaited happens.
//
// A Predictor turns these times into ranges with a stated probability: see package calibration.
//
// # Replay
//
// The scheduler gets the recorded events at their recorded times, and everything that policy and placer decide is
// compared with the recording. At the first difference Replay stops.
package whatif
