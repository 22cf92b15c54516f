// Package lyra shares a training cluster and servers that an inference cluster lends.
//
// Source: Li et al., "Lyra: Elastic Scheduling for Deep Learning Clusters", EuroSys 2023.
//
// Two things are new in it. Servers of an inference cluster that idle are on loan, and asked
// back as its load rises: which go back, so that few jobs are preempted (§4)? And elastic jobs
// have a base demand, without which they do not run, and a flexible one, which can be had and
// lost while they train: who gets how many workers (§5.2), and where (§5.3)?
//
//	lyra.go      a round, as numbered steps
//	round.go     who is where: base and flexible workers
//	shares.go    placements added and taken away
//	pairs.go     GPU types of the training cluster and on loan, in pairs
//	demand.go    what a job may have, and what is left of it to do
//	speed.go     how fast it is believed to be with so many workers
//	aim.go       on which of several GPU types
//	return.go    servers that go back: package reclaim says which; and all that is lent is borrowed
//	ageing.go    jobs that have waited for long
//	allocate.go  how many workers: package allocate says so, pair by pair
//	place.go     where: best fit, base demands by decreasing worker, then flexible workers
//	rank.go      which nodes first
//	write.go     the plan, with reasons
//
// Dictionary: N_R: cluster.Loan.Reclaim; base and flexible demand: tenant.base, tenant.flex;
// worker: tenant.unit GPUs; w_min, w_max: tenant.least, tenant.top; running time:
// tenant.work, of one worker, which several share without loss (§5), or by tenant.speed where
// the job has a model (§8, "a non-linear function of resources"); orchestrator:
// round.reclaim and round.borrow; whitelist: Snapshot.Cluster.
//
// The settings make what the paper compares with: Order FIFO without growth and loans is its
// Baseline; Loan Opportunity, rules Random and SCF, growth Gandiva and AFS; Group false is
// Table 6. With rule Greedy, Foresee false and no patience and pause it is the paper's Lyra.
//
// Deviation: servers that go back are chosen exactly, as far as a limit of steps goes, because
// the paper's greedy choice preempts up to a third more jobs (docs/experiments/lyra.md).
//
// Deviation: where the lender says what it expects to lend, no job that waits goes on loan
// that would be asked back before it ends, and jobs that end late share servers, because a job
// without checkpoints loses all that it did there (Options.Foresee).
//
// Deviation: a job that has waited for Options.Patience goes first, and nodes are kept for it
// that will be free soonest, for jobs that end before, because shortest job first passes large
// jobs over for as long as short ones come, although §5.2 says that it avoids starvation.
//
// Deviation: workers of a job go together where a server holds them, because a job on fewer
// servers is preempted less often; a base demand that is granted and fits no servers makes
// way for others in the same round.
//
// Deviation: a preempted job waits for the next round, because its processes take a moment to
// go, and a start in the same round would count as a move.
//
// Deviation: of several GPU types in the training cluster each is a cluster of its own, with
// one type on loan, served in the order of the cluster, because the paper has one of each; a
// job that has a model waits for the one on which it is fastest with an equal share of it. A
// job on loan takes job.Spec.Equivalents times as many GPUs and runs as long: "normalized
// relative to training GPUs" (§5.2).
package lyra
