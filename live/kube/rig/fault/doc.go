// Package fault injects faults between a program and the API server: it delays and drops watch events, answers
// with errors, cuts connections, delays calls, and kills the program at a chosen write. [Enumerate] runs a
// scenario once for each write of a program and each [Moment] of it.
package fault
