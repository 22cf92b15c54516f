// Package local is the backend of one machine: a scheduler.Backend in which jobs are real
// processes on its GPUs, or on slots of its CPUs. It has three parts:
//
//   - package observe finds out which generations of jobs run;
//   - package execute compares that with the plan, and takes the next steps towards it;
//   - Backend connects them with the scheduler, the agents of jobs and the users.
//
// Do commits a plan to the store, in one transaction. This is the only commit point. The executor
// then makes the processes equal to the committed plan, in as many passes as that takes. It
// releases before it acquires: a slot is given to a job only when no process of another job is on
// it any more. After a crash the committed plan is carried out completely before anything new is
// planned. Package supervisor runs the processes, in a process that outlives the scheduler.
//
// Time is logical (driver.Queue): a journal of this backend replays to the same plans.
//
// A job whose program sends no messages (package agentapi) gets the fewest GPUs that it asks for,
// is not interrupted, and is not restarted after a failure, because it may not be able to go on.
// A job whose program sends messages is restarted from its last checkpoint, until it has failed
// three times without a new one.
package local
