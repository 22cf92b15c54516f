// Package fault injects faults between a program and the API server: it delays and drops watch events, answers
// with errors, cuts connections, delays calls, and kills the program at a chosen write.
//
// A [Proxy] serves one client and uses that client's credentials for all calls. [Enumerate] runs a scenario
// once for each write of a program and each [Moment] of it: it kills the program there, restarts it, and
// reports the outcome.
package fault
