// Package local is the world of one machine: a scheduler.Backend in which jobs are real
// processes on its GPUs, or on slots of its CPUs. It has three parts:
//
//   - package observe finds out which generations of jobs run;
//   - package execute compares that with the plan, and takes the next steps towards it;
//   - World is the seam between them, the scheduler, the agents of jobs and the users.
//
// Do commits a plan to the store, in one transaction: that is the one commit point. The
// executor then makes the processes equal to what is committed, as often as that takes. It
// releases before it acquires: a slot is given to a job when no process of another is on it
// any more. After a crash the committed plan is carried out to its end before anything new is
// planned. Processes are kept by package supervisor, which outlives the scheduler.
//
// Time is logical (package eventqueue): a journal of this world replays to the same plans.
//
// A job whose program never speaks (package agentapi) gets the fewest GPUs that it asks for,
// is not interrupted, and fails at its first failure: nothing says that it can go on. One
// that speaks is restarted from its last checkpoint, until it has failed three times without
// a new one.
package local
