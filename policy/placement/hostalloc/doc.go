// Package hostalloc records the free resources of nodes, and divides a node's CPUs
// and host memory among its jobs.
//
// Nodes holds the free resources and finds the best fit of Synergy §4.2. A Settler
// does not move GPUs: their nodes are its input. It chooses one cell of each job's
// sensitivity matrix. The value of a cell is the job's speed there, relative to its
// speed with a GPU-proportional share. The Settler makes the sum of the values as
// large as the CPUs and memory of each node allow. No job falls below the speed of
// its GPU-proportional share.
//
//	Synergy                               here
//	W_j[c, m]                             perf.Cell, Cell.Value relative to W_j[C_g, M_g]
//	demand vector                         Job.Wish
//	server with the least free resources  Nodes.BestFit
//	switch a job to its fair share        a Settler settles on a cell
package hostalloc
