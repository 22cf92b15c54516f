// Package scheduler is the round-based scheduler: a deterministic state machine
// between a policy that decides and a world that acts. Events go in (Step),
// actions come out, one plan a round (Round); Scheduler.Run is the
// loop that joins it to a Backend. It reads no clock: worlds tell the time.
package scheduler
