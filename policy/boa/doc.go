// Package boa is BOA Constrictor: it rents GPUs by the hour so that jobs end as soon as a budget allows. The width
// (number of GPUs) of a job is fixed in advance for its class and epoch. No job queues, and the width does not
// depend on other jobs. Sections and equations refer to the BOA paper.
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
// In a round the policy books past spending and leaves jobs that have their width where they are. Other jobs get
// GPUs of nodes in use first, so that whole nodes become empty and can be returned. A growing job moves once all
// its new GPUs are available. If no more nodes can be rented or paid for, the jobs that end soonest come first.
//
// Deviation: there are two tables of widths, each for a share of the arrivals of every class, because one is not
// optimal if rescaling takes time (opt/convex). Method Single has one table, Published has Algorithm 1's.
//
// Deviation: widths are charged for nodes, where the paper counts GPUs of jobs, because other jobs may not fill
// the last node of a job. How full such nodes are is measured (fill).
//
// Deviation: past spending changes the budget of widths, where the paper has a mean over all time, because a
// budget is a promise. It acts slowly, over Horizon, because money buys most at a constant price. At the limit
// (Options.Window, Slack) no node is rented, and in the end jobs are stopped.
//
// Deviation: a job whose width was recomputed moves only if that pays, because it must restart.
//
// Deviation: a job that waits for its nodes does not start on GPUs that happen to be free, because it would
// restart soon after.
//
// Deviation: if jobs together want too many GPUs of a type, each of its GPUs has a rent, which rises until demand
// fits, because the paper has no limit on a type. Rents are the multipliers of the types' capacities in problem
// (7), for the present jobs.
//
// Deviation: a job of unknown class has the GPUs that are best by its own model at the price behind the other
// widths, because not every job has a class with known speeds. Before there is a price, it has the most goodput
// per GPU-hour.
//
// Deviation: owned nodes are used by jobs of their GPU type, but widths are chosen for them only if nothing can be
// rented, because their number is fixed. A job is on several sizes of nodes only if no one size has enough.
package boa
