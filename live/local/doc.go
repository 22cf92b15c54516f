// Package local is the backend of one machine: a scheduler.Backend whose jobs are processes on its GPUs, or on
// slots of its CPUs. It also finds the GPUs, cores and memory of this machine (FindMachine).
//
// Do commits a plan to the store in one transaction, the only commit point. The executor then makes the processes
// match the plan, in as many passes as it takes; slots are released before they are acquired. After a crash the
// committed plan is carried out before anything new is planned. A supervisor process watches each generation (one
// start of a job) and outlives the scheduler. Time is logical (driver.Queue): a journal of this backend replays to
// the same plans.
//
// A job whose program sends no messages (package agentapi) gets its minimum of GPUs, and is neither
// preempted nor restarted after a failure, because it may be unable to resume. Other jobs restart from
// their last checkpoint, until they have failed three times without a new one.
package local
