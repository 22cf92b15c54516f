// Package external is a policy in another process, in any language. Each round it writes a Question and reads an
// Answer, one line of JSON each. The Answer lists the jobs in order, with numbers and types of GPUs. A simulation can
// so be an environment for reinforcement learning, with a round as a step.
//
// Common rules hold whatever the answer says: jobs being profiled get nothing, non-preemptible jobs keep their GPUs,
// and no job gets more than is free or a number it cannot use.
//
// A Meter integrates the number of jobs in the system over time. Its total over a run is the sum of all completion
// times, so its negative is a reward for reinforcement learning.
package external
