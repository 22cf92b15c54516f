// Package shockwave plans a window of rounds ahead so that over time every job is treated fairly and all jobs end
// early. It expects jobs to change their batch size while they train. Jobs run as submitted; if their GPU count or
// type may be chosen, it is chosen for the whole window.
//
//	§5       posterior of regimes, restatement rule         Predictor, account.observe
//	§5       remaining run time R̂, total run time P̂         forecast.time, account.past
//	§6.1     T rounds; k; λ                                 Options.Window, K, Lambda
//	§6.2     ρ̂ (Eq. 9), N_avg                               perf.Life, account.rho, account.contention
//	§6.2     H, bound on the makespan (Eq. 10)              opt/multimode, Point.Left and Load
//	§7       reactive and lazy                              Options.Lazy
//	App. G   micro-jobs, one for each regime, in order      forecast
//	App. G.1 UTIL, WELFARE (Eq. 7, 8)                       builder.utility
//	App. G.3 the program of a window (Eq. 11), Z0           builder, opt/multimode
//	App. H   order of regimes, work conservation, capacity  forecast, Policy.fill, opt/multimode
//
// In a round, update reads the jobs, and accept uses the window that was planned meanwhile. serve runs the jobs
// that the window has for this round, and assigns free GPUs to the jobs that gain most. If the window is outdated,
// plan computes the next one in the background. A window is outdated if it is over, or if jobs, GPUs or batch
// sizes are not as expected.
//
// The window has 20 rounds here (§6.1, not App. G's 30), and λ is 1, in the middle of App. G.2's range (§6.1 has
// 0.001, on another scale). docs/experiments/shockwave.md measures k and λ.
//
// Deviation: ρ̂ assumes that a job gets nothing until the end of the window, because a weight that grows only once
// a job is late comes too late for a short job (§6.2 has ρ̂ as of now).
//
// Deviation: weights are divided by their mean, because the k-th powers of ρ̂ grow together when all jobs are
// late, and λ would then count for nothing.
//
// Deviation: the utility is the logarithm of 1 + progress, because the logarithm of 0 is not finite. Options.Paper
// has the paper's three instead, with progress at least 10⁻⁶, as in the public code.
//
// Deviation: in H a job's remaining time is multiplied by its GPUs, because jobs of several GPUs fill the cluster
// sooner.
//
// Deviation: the regimes' batch sizes are those that the user named, if any (job.BatchSchedule.Sizes), because the
// paper lets the user bound their number, and the public code knows them. A job that does not follow its schedule
// is assumed to keep its batch size.
package shockwave
