// Package hostalloc divides the CPUs and host memory of each node among its jobs (Settler), and tracks the free
// resources of nodes (Nodes).
//
// A Settler does not move GPUs. For each job it chooses an amount of CPUs and memory, a cell of its sensitivity
// matrix. The sum of the jobs' speeds, each relative to the speed with the share proportional to GPUs, is as large as
// the nodes allow. No job is slower than with that share.
//
//	Synergy                               here
//	W_j[c, m]                             perf.Cell, Cell.Value relative to W_j[C_g, M_g]
//	demand vector                         Job.Wish
//	server with the least free resources  Nodes.BestFit
//	switch a job to its fair share        a Settler settles on a cell
package hostalloc
