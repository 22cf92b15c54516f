// Package external is a policy in another process. Each round it writes a Question and reads an Answer, as lines of
// JSON. The Answer lists the jobs in order, with GPUs.
//
// Jobs being profiled get nothing, non-preemptible jobs keep their GPUs, and no job gets more than is free or possible.
//
// A Meter sums the time of all jobs in the system. Minus its total, the sum of completion times, is a reward for
// reinforcement learning.
package external
