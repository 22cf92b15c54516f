// Package sim simulates a cluster as a scheduler.Backend: jobs train at the true speed that their application has.
// Virtual time starts at Epoch and jumps from event to event.
//
// # The main loop
//
// scheduler.Run calls World.Next with the deadline of the round until Next returns no event. It
// then asks the policy for a plan and passes the plan's actions to World.Do. A World has three
// lists:
//
//   - arrivals: the jobs that are not submitted yet, sorted by time, then ID;
//   - agenda: a binary heap of all other future entries, sorted by time, then insertion order:
//     turns of agents, failures, repairs, arrivals of ordered nodes, reviews of lenders;
//   - ready: the events of the present instant that Next has not returned yet, first in, first
//     out.
//
// Next returns the first event of ready. If ready is empty, it moves the clock to the earliest
// entry of agenda and arrivals, runs all entries of that instant, and looks again; an entry may
// emit any number of events. If the earliest entry is after the deadline, Next moves the clock to
// the deadline and returns no event.
//
// # Invariants
//
// The clock never goes back, and every event in ready happened at the present time.
//
// A job's speed is constant between two entries that concern it, so its progress is a straight line: agent.settle
// adds rate times elapsed time, and agent.plan divides the rest of the epoch by the rate. Except for rounding, the
// result does not depend on how often progress is settled.
//
// At most one entry of an agent is valid: the one whose turn equals the agent's turn. The turn
// increases when a job gets other GPUs or loses them. The old entry is then void. It stays in the
// heap until agenda.peek drops it, or until the heap is twice as large as without void entries.
//
// The same options, cluster and arrivals give the same events. Entries of one instant run in
// insertion order, arrivals last. Jobs from a map are sorted by ID if their order could matter.
// Each source of chance has its own random stream, named after its job, node or group.
//
// # Why it ends
//
// Each pass of Next's loop returns or takes at least one entry. There are finitely many entries
// before a deadline: an agent has one per report interval and one per end of an epoch, and random
// times are continuous. An epoch ends once, because endEpoch sets progress to exactly the end of
// the epoch.
//
// The run ends when no job is live and none will arrive: Next returns io.EOF. If a policy never
// starts the waiting jobs, World.stuck returns an error after stallRounds rounds.
//
// # Cost
//
// An entry costs O(log n) with n entries in the heap, at most half of them void. A run takes about (hours of jobs on
// GPUs) x (3600 s / report interval) turns; reports that are omitted (Options.Sparse) cost an addition each.
package sim
