// Package sweep runs a grid of configurations, such as policies by seeds by loads by clusters, and
// compares the policies of each cell with a baseline by common random numbers. What is done is kept in
// a folder, one file a run, under a key that is a hash of all that decides the run: a sweep that was
// stopped goes on where it was, and several machines can each run a part.
package sweep
