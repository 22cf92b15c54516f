// Package scheduler is the round-based scheduler: a deterministic state machine
// between a policy that decides and a world that acts.
package scheduler
