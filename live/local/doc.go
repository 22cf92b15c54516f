// Package local is the world of one machine: a scheduler.Backend in which jobs are real
// processes on its GPUs, or on slots of its CPUs.
//
// Do commits a plan to the store, in one transaction: that is the one commit point. A
// level-triggered executor then makes the processes equal to what is committed, releasing
// before it acquires: a slot is given to a job when no process of another is on it any more.
// After a crash the committed plan is rolled forward; nothing is planned before. Processes
// are kept by package keeper, which outlives the scheduler.
//
// Time is logical: it is that of the last event, or of the deadline, that Next returned, so
// that a journal of this world replays to the same plans.
//
// A job whose program never speaks (package agentapi) gets the fewest GPUs that it asks for,
// is not interrupted, and fails at its first failure: nothing says that it can go on. One
// that speaks is restarted from its last checkpoint, until it has failed three times
// without a new one.
package local
