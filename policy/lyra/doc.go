// Package lyra shares a training cluster and the servers that an inference cluster lends.
//
// Source: Li et al., "Lyra: Elastic Scheduling for Deep Learning Clusters", EuroSys 2023.
//
// Idle servers of an inference cluster are on loan, and must be returned as its load rises: the policy returns
// servers whose return preempts few jobs (§4). Elastic jobs have a base demand, without which they do not run, and
// a flexible demand of workers that come and go while they train: the policy chooses how many workers each job
// gets (§5.2), and where (§5.3).
//
//	paper                      code
//	N_R                        cluster.Loan.Reclaim
//	base and flexible demand   tenant.base, tenant.flex
//	worker                     tenant.unit GPUs
//	w_min, w_max               tenant.least, tenant.top
//	running time (§5, §8)      tenant.work, divided by workers or tenant.speed
//	orchestrator               borrower.reclaim, borrower.borrow
//	whitelist                  Snapshot.Cluster
//
// Settings select the schemes of the paper. Lyra: rule Greedy, Foresee false, no patience and no pause. Baseline:
// order FIFO without growth and loans. Others: Loan Opportunity, rules Random and SCF, growth Gandiva and AFS.
// Table 6: Group false.
//
// Deviation: servers to return are chosen exactly, within a limit of steps, because the paper's greedy choice
// preempts up to a third more jobs (docs/experiments/lyra.md).
//
// Deviation: if the lender states what it expects to lend, no waiting job starts on servers that would be returned
// before it ends, and jobs that end late share servers, because a preempted job without checkpoints loses all its
// work (Options.Foresee).
//
// Deviation: a job that has waited for Options.Patience goes first, and the nodes that will be free soonest are
// reserved for it, because shortest job first passes large jobs over as long as short ones come.
//
// Deviation: workers of a job go on one server if they fit, because a job on fewer servers is preempted less
// often. If a granted base demand fits no servers, its GPUs go to other jobs in the same round.
//
// Deviation: a preempted job waits for the next round, because its processes take a moment to stop, and a start in
// the same round would count as a move.
//
// Deviation: each GPU type of the training cluster is served like a separate cluster, paired with one type on
// loan, because the paper has one of each. A job with a model waits for the type on which it is fastest with an
// equal share. A job on loan takes job.Spec.Equivalents times as many GPUs and runs as long (§5.2).
package lyra
