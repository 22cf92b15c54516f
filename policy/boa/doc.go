// Package boa is BOA Constrictor: GPUs rented by the hour, so many that jobs end as soon as
// a budget allows. Which width (number of GPUs) a job has is decided beforehand for its
// class and epoch; nobody queues, and no job's width depends on who else is there.
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
// A round: what was spent since the last one is booked; widths are computed anew in the
// background if classes, budget or nodes have drifted from what they were computed from;
// jobs that have their width keep their very placement; the others get GPUs of nodes in use
// first, so that whole nodes become empty and go back; and as many nodes are wanted as jobs
// are on or wait for. A job that is to have more waits where it is until all of it is there,
// and moves once. Where no more nodes are to be had, or to be paid, those that are done
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
// Deviation: two tables for a share of the arrivals of each class each, because one is not
// optimal where rescaling takes time (opt/convex). Method Single has one, Published that of
// Algorithm 1.
//
// Deviation: widths are charged for the nodes they need, where the paper counts GPUs of jobs
// (and reports nodes), because the GPUs of a job beyond whole nodes are on a node that others
// may not fill. How full such nodes are is measured (fill); until it is, each is taken to be
// alone.
//
// Deviation: spending feeds back, where the paper has a mean over all time, because a budget
// is a promise. The budget of widths is lowered, or raised, by what is off over Horizon, and
// by the part of what is paid that widths do not account for: nodes on their way, for the
// most. It acts slowly: a budget that follows every burst has a price that changes with it,
// and money buys most at one price. Beyond that no node is rented, and in the end jobs are
// stopped, where a window would otherwise cost more than it may (Options.Window, Slack).
//
// Deviation: jobs whose width changes because widths were computed anew move only if that
// pays at the price that the widths come from, with the restart counted.
//
// Deviation: a job is not started on what happens to be left until its nodes are there,
// because it would restart soon after.
//
// Deviation: where all jobs together want more GPUs of a type than there are, those have a
// rent that rises until they do not, and each job has what costs it least at the rents, a
// restart counted, because widths alone bound what one job has of a type, and the paper has as
// many GPUs of each as it likes. Rents are the multipliers of the capacity that problem (7)
// has per type, for the jobs that there are. Who finds no room all the same has the next best
// of which there is some. Nodes are then given back later, if nothing limits what is spent.
//
// Deviation: a job has the GPUs that are best by its own model, at the price that the widths
// of others come from, because not every job has a class of which speeds are known. Before
// there is a price, it has those that make the most of a GPU-hour.
//
// Deviation: nodes that are owned are used by jobs of their GPU type, but widths are not
// chosen for them unless nothing can be rented, because there are no more of them. Nodes of
// one size are an offer then; of different sizes together a job has GPUs only if no one size
// has enough.
package boa
