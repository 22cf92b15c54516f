// Package observe finds out what runs on this machine: it knows where the files of jobs are,
// and asks the supervisor of each generation how it is. A generation is one start of a job.
//
// It changes nothing, but that it kills processes whose supervisor is gone (package
// supervisor, Sweep).
package observe
