// Package whatif asks the simulator about a run whose jobs really train: it makes a
// simulated world of what the run has learned of its jobs, under the same policy.
//
// Ahead simulates the present state forward: when does each job start and end. Unblock
// finds the cheapest change that gives a job GPUs. Fidelity says how well such a world
// predicts a recorded run, and Replay whether the recorded decisions come out again.
// A Learner, an observer of the scheduler, measures what the models do not say.
//
// In the simulated world nothing fails, no nodes join or leave, and a job that is on GPUs
// of two types at once cannot be simulated.
package whatif
