// Package external is a policy in another process. Each round it writes a Question and reads an Answer, as lines
// of JSON. The Answer lists the jobs in order, with GPUs.
//
// Common rules hold: jobs being profiled get nothing, non-preemptible jobs keep their GPUs, and no job gets more
// than is free or possible.
//
// A Meter integrates the jobs in the system: minus its total, the sum of completion times, is a reward for
// reinforcement learning.
package external
