// Package shockwave is Shockwave: it plans a window of rounds ahead, for jobs that
// change their batch size by themselves, so that over time every job is treated
// fairly and all end early. Jobs run as submitted, or, where their number of GPUs or
// GPU type may be chosen, on the GPUs that suit the whole window.
//
//	§5       posterior of regimes, restatement rule         Predictor, account.observe
//	§5       remaining run time R̂, total run time P̂         forecast.time, account.past
//	§6.1     T rounds; k; λ                                 Options.Window, K, Lambda
//	§6.2     ρ̂ (Eq. 9), N_avg                               fairness.Estimate, account.rho, account.contention
//	§6.2     H, bound on the makespan (Eq. 10)              opt/multimode, Point.Left and Load
//	§7       reactive and lazy                              Options.Lazy
//	App. G   micro-jobs, one for each regime, in order      forecast
//	App. G.1 UTIL, WELFARE (Eq. 7, 8)                       builder.utility
//	App. G.3 the program of a window (Eq. 11), Z0           builder, opt/multimode
//	App. H   order of regimes, work conservation, capacity  forecast, Policy.fill, opt/multimode
//
// In a round, meet reads the jobs and what is expected of them, and take takes up the window
// that was planned meanwhile. serve runs the jobs that the window has in this round, and gives
// GPUs that are left to the jobs that gain most. If the window is outdated, plan plans the next
// one in the background, from the next round on. A window is outdated when a job came, a job
// left sooner or stays longer than expected, a batch size changed, GPUs came or went, or the
// window is over.
//
// The paper names two defaults for two settings. The window has 20 rounds here (§6.1, not App.
// G's 30), and λ is 1, in the middle of App. G.2's range (§6.1 has 0.001): the two values of λ
// belong to different scales of the makespan. docs/experiments/shockwave.md shows what k and λ
// do.
//
// Deviation: ρ̂ is that of a job that gets nothing until the end of the window, because
// a weight that grows only once a job is late comes too late for it: one that has little
// left to run is late after a single window (§6.2 has ρ̂ as of now).
//
// Deviation: weights are divided by their mean, because the k-th powers of ρ̂ grow
// together when all jobs are late, and λ would then weigh nothing.
//
// Deviation: the utility is the logarithm of 1 + progress, because that of 0 has no value.
// Options.Paper has the paper's three instead, with progress at least 10⁻⁶, as the public
// code has it.
//
// Deviation: in H the time that a job has left is multiplied by its GPUs, because jobs of
// several GPUs fill the cluster sooner.
//
// Deviation: the regimes' batch sizes are those that the user named, if any
// (job.BatchSchedule.Sizes), because the paper lets the user bound their number, and the
// public code knows them.
//
// A job whose batch sizes are not those of its schedule, or whose schedule says too
// little, is planned as if its batch size stayed as it is.
package shockwave
