// Package external is a policy that asks another process. Each round it writes a Question, one line of
// JSON, and reads an Answer, another one: an ordered list of jobs, each with how many GPUs of which type it
// is to have. So a policy can be written in any language, and a simulation can be the environment of
// reinforcement learning, in which a round is a step.
//
// The rules that hold under every policy are kept whatever the answer says: jobs being profiled get
// nothing, those that may not be preempted keep what they hold, and no job gets an amount that it may not
// have, or more than is free. The work that is lost to answers of another kind than these is the
// answerer's.
//
// A Meter counts the time that jobs spend in the system, between questions: its sum over a run is that
// of all completion times, so that minus this is a reward whose return is the objective.
package external
