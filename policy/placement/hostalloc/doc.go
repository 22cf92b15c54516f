// Package hostalloc records the free resources of nodes (Nodes), and divides a node's CPUs and host memory
// among its jobs (Settler).
//
// A Settler does not move GPUs. It chooses one cell of each job's sensitivity matrix so that the sum of
// values is as large as the CPUs and memory of each node allow. The value of a cell is the job's speed
// relative to its GPU-proportional share. No job falls below that share's speed.
//
//	Synergy                               here
//	W_j[c, m]                             perf.Cell, Cell.Value relative to W_j[C_g, M_g]
//	demand vector                         Job.Wish
//	server with the least free resources  Nodes.BestFit
//	switch a job to its fair share        a Settler settles on a cell
package hostalloc
