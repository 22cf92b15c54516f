// Package whatif answers questions about a run of real training jobs by simulation. It makes a
// simulated world (sim.World) from what the run has learned about its jobs, and runs
// the same policy on it.
//
//   - Ahead simulates the present state forward: when does each job start and end?
//   - Unblock decides a recorded round again: which change would have given a job GPUs?
//   - Compare simulates a recorded run again: how well does the simulation predict it?
//   - Replay passes a recorded run to the policy again: does it decide the same?
//
// # The simulated copy of a run
//
// Ahead and Compare simulate a copy of each job. Its ground truth is what the run has
// learned about the real job:
//
//   - Speed on GPUs of any number and type: the scheduler's performance model of the job
//     times the job's pace. The pace, measured by a Learner, is the real
//     progress over the progress that follows from reported step times: time
//     passes between steps, which no model has.
//   - Statistical efficiency at any batch size: from the gradient statistics that
//     reports had in each epoch.
//   - Time of a restart: the mean measured for this job, else for its class,
//     else the value of its specification. Compare repeats each start with its own measured time.
//   - Work: the job's target or, if it ended at other work, what it did. Compare adds the
//     time from the last report to the end of the job, in which it held GPUs.
//   - A job that never reported training has only its GPU time. Its copy
//     has that duration, with linear speed-up.
//
// In Ahead, the scheduler of the copy has the same models (estimate.Oracle) from the start. In
// Compare it learns them from the reports of the copies, as the real
// scheduler did, and programs describe their jobs at the first report of the copy.
//
// In Compare, owned nodes leave and come back at the times of the run, and jobs fail that failed
// while their nodes stayed. In Ahead nothing fails and no nodes change. A
// job on GPUs of two types at once cannot be simulated.
//
// # Ahead
//
// A copy of the policy continues in its state after the last round (Decided). A new policy
// would decide otherwise if it keeps accounts or windows.
//
// Ahead runs two scenarios: without new jobs, and with new jobs like the present ones
// at the rate of the past, less the longer none has come (submissions). New
// jobs may also make a job start earlier, so a guess has the earlier and the later
// of the two times.
//
// The future of a job is best known from others of its class: their speeds and
// restarts, their gradient statistics in later epochs, and,
// for jobs that report nothing, their durations. Beyond what any of them has reached,
// the efficiency is 1 in the first scenario, and the present one in the
// second. As training continues, gradients get noisier relative to their size, so large batches
// lose less (Pollux §3.1).
//
// A scenario ends when all jobs whose end can be known have ended and all other waiting
// jobs have started, after Options.Rounds rounds, or when for long
// nothing awaited happens and no awaited job has GPUs. Without these
// bounds it might not end: the policy may never start a job.
//
// A Predictor turns these times into ranges with a stated probability, from the outcomes of
// its earlier predictions: see package calibration.
//
// # Replay
//
// Replay simulates nothing. The scheduler gets the recorded events at their
// recorded times, and everything that policy and placer decide is compared with the recording.
// It relies on an invariant: scheduler, policy and placer are functions of the
// events and the seed. If the decisions so far equal the recorded ones, the next
// recorded event is what would have followed. After the
// first difference that is no longer so, and Replay stops there. It costs as many plans as
// the journal has rounds.
package whatif
