// Package fault stands between a program and the API server and does to the program what
// networks, API servers and machines do: it delays and drops watch events, answers with
// errors, cuts connections, makes a program wait, and kills it at a write that a test chooses.
//
// A [Proxy] is for one client: it speaks to the API server with that client's credentials,
// whoever asks. [Enumerate] runs a scenario once for each write of a program and each
// [Moment] of it, kills the program there, starts it again, and says what became of it.
package fault
