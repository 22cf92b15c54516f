// Package grant is for policies that decide job by job. It knows which GPUs are still free, what
// a job asks for on a GPU type and may have there, and which jobs keep what they hold. A policy
// opens a Round, gives jobs allocations in its own order, and says why the others wait.
//
// The Round keeps the rules that hold under every policy: jobs being profiled get nothing,
// non-preemptive ones keep what they hold, reservations are granted first, and no job gets more
// than is free.
//
//	round.go   the plan in the making
//	gang.go    what a job asks for, and the amounts it may have, on a type
//	cells.go   the CPUs and memory with which it is how fast
package grant
