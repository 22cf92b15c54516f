// Package whatif answers questions about a run whose jobs really train, by simulation. It
// makes a simulated world (sim.World) from what the run has learned about its jobs, and runs
// the same policy on it.
//
//   - Ahead simulates the present state forward: when does each job start and end?
//   - Unblock decides a recorded round again: by which change would a job have got GPUs?
//   - Compare simulates a recorded run again: how well does the simulation predict it?
//   - Replay shows a recorded run to the policy again: does it decide the same?
//
// # The simulated copy of a run
//
// Ahead and Compare simulate a copy of each job: a sim job whose ground truth is what the run
// has learned about the real one. The real truth is not known; the copy is as good as these
// parts, and each has its source:
//
//   - The speed on GPUs of any number and type is that of the job's performance model, as the
//     scheduler believes in it, times the job's pace. The pace, which a Learner measures, is the
//     progress that a job makes over the progress that follows from its reported step times:
//     the difference is time between steps, which no model knows.
//   - The statistical efficiency at any batch size follows from gradient statistics: those
//     that reports had in each epoch.
//   - The time of a restart is the mean that was measured for this job, or else for its class,
//     or else what its specification says. Compare repeats each start with its own measured time.
//   - The work is the job's target or, where it ended at other work, what it did. Compare adds the
//     time from the last report to the end of the job, because it is not training but holds GPUs.
//   - A job that never reported training is known only by the GPU time that it used. Its copy
//     is a job of that duration, with linear speed-up.
//
// The scheduler of the copy believes in the same models (estimate.Oracle) in Ahead, because it
// has learned them already. In Compare it learns them again, from the reports of the copies,
// as the scheduler of the real run did: a program that described its job when it first
// trained does so again at its copy's first report.
//
// In Compare, owned nodes leave and come back when they did in the run, and jobs fail that failed while
// their nodes stayed. In Ahead nothing fails and no nodes join or leave. A job that is on GPUs of two
// types at once cannot be simulated.
//
// # Ahead
//
// The policy goes on as it was after the last round: a copy of it decides (Decided). A policy that had seen no earlier round would
// decide otherwise, if it keeps accounts or windows.
//
// Ahead runs two scenarios. In the one, no more jobs are submitted; in the other, more are at the rate of
// the past, less the longer none has come (submissions), each like one of the present ones. More jobs need not make one later: the policy may decide
// differently. So a time is the earlier and the later of the two.
//
// What is to come of a job is known best from others of its class: their speeds and restarts, their
// gradient statistics in the epochs that it has not reached, and, for jobs that report nothing, how
// long they took. Beyond what any of them has reached, its efficiency is between the present one and 1:
// 1 in the first scenario, the present one in the second. As training goes on, gradients have more noise for their
// size, so that large batches lose less (Pollux §3.1).
//
// A scenario ends when all jobs whose end can be known have ended, and all other waiting jobs have
// started, or after Options.Rounds rounds, or when for long nothing awaited happens and no job whose end is awaited has GPUs. Without these
// bounds it might not end: the policy may never start a job.
//
// A Predictor makes of these times ranges that hold with a stated probability, from what became of
// its earlier predictions: see package calibration.
//
// # Replay
//
// Replay needs no copies and simulates nothing. The recorded events are given to the scheduler
// at their recorded times, and everything that policy and placer decide is compared with what
// was recorded. The invariant is that scheduler, policy and placer are functions of the events
// and the seed: then the first decision equals the recorded one, so that the next recorded
// event is what would have happened after it, and so on by induction. Behind the first
// difference this does not hold any more, because the recorded events answer other decisions.
// So Replay stops there. It costs as many plans as the journal has rounds.
package whatif
