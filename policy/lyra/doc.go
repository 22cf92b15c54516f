// Package lyra shares a training cluster and servers that an inference cluster lends.
//
// Source: Li et al., "Lyra: Elastic Scheduling for Deep Learning Clusters", EuroSys 2023.
//
// Two things are new in it. First, idle servers of an inference cluster are on loan, and are
// asked back as its load rises: the policy chooses those that go back so that few jobs are
// preempted (§4). Second, elastic jobs have a base demand, without which they do not run, and a
// flexible demand, whose workers they may gain and lose while they train: the policy chooses
// how many workers each job gets (§5.2), and where (§5.3).
//
//	lyra.go      a round, as numbered steps
//	round.go     who is where: base and flexible workers
//	inventory.go nodes and what is free of them; GPU types of the training cluster and on loan, in pairs
//	pin.go       jobs that leave no choice
//	shares.go    placements added and taken away
//	demand.go    what a job may have, and what is left of it to do
//	memo.go      jobs that are as they were in the last round
//	speed.go     how fast it is believed to be with so many workers
//	aim.go       on which of several GPU types
//	loans.go     servers that go back: package reclaim says which; and all that is lent is borrowed
//	ageing.go    jobs that have waited for long
//	allocate.go  how many workers: package allocate says so, pair by pair
//	place.go     where: best fit, base demands by decreasing worker, then flexible workers
//	rank.go      which nodes first
//	write.go     the plan, with reasons
//
// Dictionary: N_R: cluster.Loan.Reclaim; base and flexible demand: tenant.base, tenant.flex;
// worker: tenant.unit GPUs; w_min, w_max: tenant.least, tenant.top; running time: tenant.work,
// for one worker, divided by the number of workers (§5), or by tenant.speed where the job has a
// model (§8, "a non-linear function of resources"); orchestrator: borrower.reclaim and
// borrower.borrow; whitelist: Snapshot.Cluster.
//
// Settings give the schemes that the paper compares with. Order FIFO without growth and loans
// is its Baseline. Others are Loan Opportunity, rules Random and SCF, and growth Gandiva and
// AFS. Group false is Table 6. Rule Greedy, Foresee false, and no patience and pause are the
// paper's Lyra.
//
// Deviation: servers that go back are chosen exactly, as far as a limit of steps goes, because
// the paper's greedy choice preempts up to a third more jobs (docs/experiments/lyra.md).
//
// Deviation: where the lender says what it expects to lend, no waiting job starts on servers on
// loan that would be asked back before it ends, and jobs that end late share servers, because a
// preempted job without checkpoints loses all its work (Options.Foresee).
//
// Deviation: a job that has waited for Options.Patience goes first. The nodes that will be free
// for it soonest are kept for it; until then only jobs that end before use them, because
// shortest job first passes large jobs over for as long as short ones come, although §5.2 says
// that it avoids starvation.
//
// Deviation: workers of a job go on one server where it holds them, because a job on fewer
// servers is preempted less often. If a base demand is granted but fits no servers, its GPUs go
// to other jobs in the same round.
//
// Deviation: a preempted job waits for the next round, because its processes take a moment to
// go, and a start in the same round would count as a move.
//
// Deviation: if the training cluster has several GPU types, each is served like a cluster of
// its own, paired with one type on loan, in the order of the cluster, because the paper has one
// of each. A job that has a model waits for the type on which it is fastest with an equal share
// of it. A job on loan takes job.Spec.Equivalents times as many GPUs and runs as long:
// "normalized relative to training GPUs" (§5.2).
package lyra
