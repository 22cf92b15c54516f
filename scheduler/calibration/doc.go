// Package calibration turns predicted times into ranges of a stated probability. It keeps a record
// of what was predicted and of what happened.
//
// # Why
//
// A simulation says when a job ends if nothing unforeseen happens. How much to trust it cannot be
// said beforehand: under a policy that never preempts it is right within minutes, under one that
// prefers short jobs it depends on the jobs that come next. What can be done is to look at the
// predictions of this run that have come true or not, and at how far off they were.
//
// # The method
//
// A prediction is a Guess: the earlier and the later of two times, which a hopeful simulation and one
// that is not found (whatif.Ahead). When it has happened after an actual time, three errors are known,
// as logarithms of a ratio:
//
//	low  = log(actual / earlier guess)
//	mid  = log(actual / geometric mean of both guesses)
//	high = log(actual / later guess)
//
// The range of a new guess goes from the earlier guess times exp(10 % quantile of low) to the later
// guess times exp(90 % quantile of high). Its middle is the mean of both times exp(median of mid). Where many errors are the
// same, as those of predictions that are exact to the round, fewer than 10 % may be left out on one side; then as many more
// are left out on the other, if that makes the range narrower.
// If the errors of the new guess are like those before (formally: exchangeable with them), the range
// holds with 80 %, whatever the simulation is worth. A guess whose two times are far apart has a wide
// range, so that widths differ from job to job. Every time has one round added before it is divided:
// nothing happens between rounds, and a time of 0 has a logarithm then.
//
// This is conformalised quantile regression, with each side calibrated by itself (Romano, Patterson
// and Candès 2019), and four changes that a running cluster needs:
//
//   - Predictions that have not come true yet count, too. Without them only jobs that ended early
//     would have been seen, and ranges would be too early. That an open prediction is not true after
//     a time says that its error is above the one which it would have now. The quantiles are those of
//     the product-limit estimate for such observations (Kaplan and Meier 1958).
//   - A job that is predicted a hundred times is still one job: its errors are nearly the same. All
//     its predictions together weigh as much as one prediction (Lee, Barber and Willett 2023, on
//     data in groups).
//   - Errors differ by phase (Phase), and by how far ahead a time is. Each phase has its own record.
//     Predictions of about the same length count most: the weight falls with the square of the
//     logarithm of the ratio of the lengths, as a normal density of standard deviation 0.7. So it does with how far
//     apart the two times of a guess are: guesses whose times are equal are often exact, and what happens to
//     others is mostly between their times (localised conformal prediction, Guan 2023).
//   - Jobs that wait at the same time are off in the same direction at once. So the errors of a run weigh
//     at most as much as 20 jobs, or as four for each time as long as the predicted one that has passed, if
//     that is more: errors that are so far apart in time are nearly independent.
//
// At the start of a run nothing is known of its errors. So a table of errors of other runs
// (prior.csv) counts like five jobs. They were generated, 13 under each of eight policies: errors of one run are
// alike, so that many runs tell more than many predictions. The run's own errors soon outweigh them.
package calibration
