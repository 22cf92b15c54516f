// Package sim is the simulated backend: a scheduler.Backend whose jobs train as fast as the
// ground truth of a workload says. Virtual time starts at Epoch and jumps from event to event.
//
// # The main loop
//
// scheduler.Run calls World.Next with the deadline of the round until Next returns no event.
// It then asks the policy for a plan and gives the plan's actions to World.Do. A World keeps
// three lists of what is to come:
//
//   - arrivals: the jobs that were not submitted yet, sorted by time, then ID;
//   - agenda: a binary heap of all other future entries, sorted by time, then by the order in
//     which they were pushed: the turns of agents, failures, repairs, orders of nodes that
//     arrive, reviews of lenders;
//   - ready: the events of the present instant that Next has not returned yet, first in, first
//     out.
//
// Next returns the first event of ready. If ready is empty, it moves the clock to the earliest
// entry of agenda and arrivals, runs all entries of that instant, and looks again: an entry may
// emit any number of events, or none. If the earliest entry is after the deadline, Next moves
// the clock to the deadline and returns no event.
//
// # Invariants
//
// The clock never goes back, and every event in ready happened at the present time.
//
// Between two entries that concern a job, the job's speed is constant. Its progress is therefore
// a straight line: agent.settle adds rate times elapsed time, and agent.plan divides what is left
// of the epoch by the rate to find when the epoch ends. Time is never cut into steps, and the
// result does not depend on how often progress is settled, except for rounding.
//
// At most one entry of an agent is valid: the one whose turn equals the agent's turn. When a job
// gets other GPUs or loses them, its turn is increased. The old entry is void from then on. It
// stays in the heap until it is first, where agenda.peek drops it, or until the heap is twice as
// large as without void entries.
//
// The same options, cluster and arrivals give the same events. Entries of the same instant run
// in the order in which they were pushed, arrivals last. Wherever the order of a map could show,
// jobs are sorted by ID. Each source of chance has a random stream of its own, named after its
// job, node or group, so that more draws from one do not change what another draws.
//
// # Why it ends
//
// Each pass of Next's loop returns or takes at least one entry. Before any deadline there are finitely many
// entries: an agent has one at each multiple of the report interval and one at each end of an
// epoch, and random times are continuous. An epoch ends once, because endEpoch sets progress to
// the end of the epoch exactly instead of to what rounding left.
//
// The whole run ends when no job is live and none is to arrive: Next returns io.EOF, although
// the agenda may still hold failures. If a policy never starts the jobs that wait, no entry ever
// ends them. World.stuck then returns an error after stallRounds rounds.
//
// # Cost
//
// An entry costs O(log n) with n entries in the heap, at most half of them void. A job with GPUs
// takes a turn per report interval, so that a run takes about (hours of jobs on GPUs) x (3600 s /
// report interval) turns; reports that are left out (Options.Sparse) cost an addition each. The rules of Options.Public that
// end jobs at the end of a round also sort the running jobs once a round.
package sim
