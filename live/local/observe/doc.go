// Package observe finds out what runs on this machine: it asks the supervisor of each
// generation, that is, of each start of a job, how the generation is.
//
// It changes nothing, but that it kills processes whose supervisor is gone (package
// supervisor, Sweep).
package observe
