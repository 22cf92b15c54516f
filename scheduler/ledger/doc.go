// Package ledger accounts for the GPUs of a run: who used them, and what was paid.
//
// A Recorder is a scheduler.Observer. It turns events and rounds into entries: a job or no job had GPUs of one type
// and tenure for some time. A Book adds entries up. Every GPU-second is in exactly one entry, also of profiling:
//
//	there = held + idle + free + leaving
//
// Held runs from a Run until the job loses the GPUs or ends; idle, from a job's end to the end of its round, when its
// GPUs can be granted again. Free and leaving GPUs have no job. Profiling uses other GPUs than those that rounds
// grant. Starting nodes are paid and not up yet. Package metrics calls
// held + idle + profiling allocated.
//
// # What is paid
//
// The prices of a GPU, of a core and of 10^9 bytes in a round come from the round's plan
// (policy.Plan.Prices): the gain of the policy's objective from one more. A job pays for the time in which it holds
// them, and to the end of the round if it ends. Payments are in the unit of the policy's objective: compare their
// shares between policies, not their sums. Rounds without prices, and profiling, cost nothing.
//
// Rent is money: GPU-hours on rented nodes times cluster.Node.GPUPrice, which is 1 if unknown. The rent of starting,
// free and leaving nodes is booked without a job, so the sum of all rents is what the provider is paid.
package ledger
