// Package budget plans what to spend on a stream of jobs: which widths they get for a
// budget, how long they then take, and what other budgets would buy. It is for people who
// pay for GPUs, and it needs no cluster. Source: BOA §5.3, "Decision Support Tool".
//
// A Workload is jobs by class, read off a trace; a PriceList is nodes that can be rented.
// Together they are a problem of policy/boa. Planner.Plan is its answer for one budget, and
// Planner.Frontier for all of them; both are written as tables, and frontiers as one HTML page.
package budget
