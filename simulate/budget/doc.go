// Package budget plans the spending on a stream of jobs: their widths for a budget, completion times, and what
// other budgets would buy. Source: BOA §5.3, "Decision Support Tool".
//
// A Workload (jobs by class) and a PriceList (nodes for rent) are a problem of policy/boa. Planner.Plan solves it
// for one budget, Planner.Frontier for all.
package budget
