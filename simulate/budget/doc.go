// Package budget plans how many GPUs to rent for a stream of jobs: the number of GPUs per job within a budget, the
// completion times, and what other budgets would buy. Source: BOA §5.3, "Decision Support Tool".
//
// A Workload (jobs by class) and a PriceList (nodes for rent) are a problem of policy/boa. Planner.Plan solves it
// for one budget, Planner.Frontier for all.
package budget
