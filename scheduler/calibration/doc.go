// Package calibration turns predicted times into ranges that contain the true time with a stated probability. It
// records predictions and outcomes.
//
// A simulation predicts when a job ends if nothing unforeseen happens. Its error depends on the policy and on
// later jobs. So the width of a range follows from the errors of earlier predictions of the run.
//
// # The method
//
// A prediction is a Guess: the earlier and the later of two simulated times, one without and one with new jobs
// (whatif.Ahead). Once the actual time is known, it has three errors, as logarithms of a ratio:
//
//	low  = log(actual / earlier guess)
//	mid  = log(actual / geometric mean of both guesses)
//	high = log(actual / later guess)
//
// The range of a new guess goes from the earlier guess times exp(10 % quantile of low) to the later guess times
// exp(90 % quantile of high). Its middle is the mean of both times exp(median of mid). If the errors of the new
// guess are distributed as the earlier ones (formally: exchangeable with them), the range holds with 80 %,
// whatever the quality of the simulation. One round is added to every time before it is divided, because nothing
// happens between rounds, and because a time of 0 has no logarithm.
//
// Example: a job is predicted to start in 10 or 20 min, with rounds of 1 min. The 10 % quantile of low is -0.2 and
// the 90 % quantile of high is 0.3. The range is 11·exp(-0.2) - 1 = 8 min to 21·exp(0.3) - 1 = 27 min.
//
// This is conformalised quantile regression with each side calibrated by itself (Romano, Patterson and Candès
// 2019), and four changes:
//
//   - Open predictions count, too. Otherwise only jobs that ended early would count, and ranges would be too early. The
//     quantiles come from the product-limit estimate for such observations (Kaplan and Meier 1958).
//   - The errors of one job are nearly equal. All its predictions together weigh as much as
//     one prediction (Lee, Barber and Willett 2023, on data in groups).
//   - Errors differ by phase (Phase) and by the predicted length, so predictions of similar length count most. The
//     weight falls with the square of the logarithm of the ratio of the lengths, as a normal density of standard
//     deviation 0.7. It falls in the same way with the difference in how far apart the two times of guesses are:
//     guesses with equal times are often exact; otherwise the truth is mostly between the times (localised
//     conformal prediction, Guan 2023).
//   - Predictions for jobs that wait at the same time err in the same direction. So the errors of a run weigh
//     at most as much as 20 jobs. If it is more, the limit is four jobs for each past interval of the predicted
//     length, because errors so far apart are nearly independent.
//
// At the start of a run its errors are unknown. So a table of errors of other runs (prior.csv) counts like five
// jobs. The run's own errors soon outweigh it.
package calibration
