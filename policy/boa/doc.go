// Package boa is BOA Constrictor: it rents GPUs by the hour so that jobs end as soon as a
// budget allows. The width (number of GPUs) of a job is decided beforehand for its class and
// epoch. No job queues, and no width depends on the other jobs that are there.
//
//	§3.1    classes i, epochs j, lambda_i, E[X_ij], s_ij    perf.ClassStats, Snapshot.Classes
//	§3.1    the budget b, the mean of what is rented        Options.Budget
//	§4, (1) widths k_ij; App. E, (7): and GPU types         Problem, Table; opt/convex
//	§4.3    time to rescale; Algorithm 1                    opt/convex; Method Published
//	§5.2    fixed-width execution                           goal, round.aim
//	§5.2    job allocation, with as few moves as can be     round.keep, round.place
//	§5.2    cluster sizing                                  round.finish, Plan.Capacity
//	§5.2    asynchronous parameter computation              Policy.learn, Plan.Background
//	§5.3    decision support tool                           Problem.Table, Problem.Frontier
//
// In a round the policy books what was spent since the last one. It computes widths anew in the
// background if classes, budget or nodes have drifted from those that the widths were computed
// from. Jobs that have their width keep their placement. The others get GPUs of nodes in use
// first, so that whole nodes become empty and can be returned. It wants as many nodes as jobs
// are on or wait for. A job that is to have more GPUs stays where it is until all of them are
// there, and moves once. Where no more nodes can be rented or paid for, the jobs that end
// soonest come first.
//
//	problem.go  what a table of widths comes from, and what it promises
//	widths.go   the table in use, and when it is computed anew
//	goal.go     what a job is to have
//	scarce.go   what it is to have where all want more of a type than there is
//	round.go    who keeps it, place.go, who gets it; pool.go, on which nodes; nodes.go, how
//	            many are wanted
//	ledger.go   what was spent, and what may be; fill.go, how full nodes are
//
// Deviation: there are two tables of widths, each for a share of the arrivals of every class,
// because one is not optimal where rescaling takes time (opt/convex). Method Single has one
// table, Published that of Algorithm 1.
//
// Deviation: widths are charged for the nodes they need, where the paper counts GPUs of jobs
// (and reports nodes), because the GPUs of a job beyond whole nodes are on a node that others
// may not fill. How full such nodes are is measured (fill); before that each job is taken to be
// alone on such a node.
//
// Deviation: what was spent changes the budget of widths, where the paper has a mean over all
// time, because a budget is a promise. What was spent too much, or too little, is made up for
// over Horizon. The part of what is paid that widths do not account for, mostly nodes on their
// way, is taken off. This acts slowly, because a budget that follows every burst has a price
// that changes with it, and money buys most at a constant price. If a window would still cost
// more than it may (Options.Window, Slack), no node is rented, and in the end jobs are stopped.
//
// Deviation: jobs whose width changes because widths were computed anew move only if that
// pays at the price that the widths come from, with the restart counted.
//
// Deviation: while a job waits for its nodes it is not started on GPUs that happen to be free,
// because it would restart soon after.
//
// Deviation: where all jobs together want more GPUs of a type than there are, the type has a
// price per GPU, called its rent, which rises until they do not. Each job has what costs it
// least at the rents, a restart counted, because widths bound only what one job has of a type,
// and the paper has no limit on the GPUs of a type. Rents are the multipliers of the capacity
// that problem (7) has per type, for the jobs that there are. A job that still finds no room
// has the next best configuration for which there is room. Nodes are then given back later, if
// nothing limits what is spent.
//
// Deviation: a job has the GPUs that are best by its own model, at the price that the widths of
// others come from, because not every job has a class with known speeds. Before there is a
// price, it has the GPUs with the most goodput per GPU-hour.
//
// Deviation: nodes that are owned are used by jobs of their GPU type, but widths are not chosen
// for them unless nothing can be rented, because there are no more of them. Nodes of one size
// are then an offer. A job has GPUs of nodes of different sizes only if no one size has enough.
package boa
