// Package sweep runs a grid of configurations, and compares the policies of each cell with a baseline by common
// random numbers. Results are stored in a folder, one file per run, under a hash of its inputs. So an interrupted
// sweep resumes, and several machines can share one.
package sweep
