// Package budget plans the spending on a stream of jobs: the widths that jobs get for a budget, their completion
// times, and what other budgets would buy. It needs no cluster. Source: BOA §5.3, "Decision Support Tool".
//
// A Workload is the jobs of a trace by class, a PriceList the nodes for rent. Together they are a problem of
// policy/boa. Planner.Plan solves it for one budget, Planner.Frontier for all.
package budget
