// Package ledger says who used the GPUs of a run, and what was paid for them.
//
// A Recorder is a scheduler.Observer. It turns events and rounds into entries: a job, or nobody,
// had GPUs of one type and tenure for some time. A Book adds entries up. Every GPU-second that is
// there is in exactly one entry, and so is every GPU-second of profiling:
//
//	there = held + idle + free + leaving
//
// Held runs from a Run until the job loses the GPUs or ends; idle, from a job's end to the end of
// its round, because its GPUs are not granted again before. Free and leaving are nobody's.
// Profiling runs are on GPUs beside those that rounds grant, and rented nodes on their way
// (starting) are paid and not there. What jobs used is held + idle + profiling, which package
// metrics calls allocated; the two share no code, and tests compare them.
//
// # What is paid
//
// The price of a GPU, of a core and of 10^9 bytes in a round is that of the round's plan
// (policy.Plan.Prices): what one more would have added to the policy's objective in that round.
// Who holds it for the whole round pays the price, who holds it for a part pays that part, and
// jobs that ended pay until the end of their round. Payments are in the unit of the policy's
// objective, so that those of different policies cannot be compared, but shares of them can.
// Rounds whose plan has no prices cost nothing; Sum.Priced says how much GPU time had a price.
// Profiling runs pay nothing, because no plan granted their GPUs.
//
// Rent is money: GPU-hours on rented nodes times cluster.Node.GPUPrice, which is 1 where no price
// is known. What is paid for rented nodes that are on their way, that no job holds or that are
// leaving is nobody's. So the sum of all rents is what the provider of the nodes is paid.
package ledger
