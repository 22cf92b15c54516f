// Package hostalloc knows what is free of nodes, and shares out a node's CPUs and
// host memory among its jobs.
//
// Nodes is what is free, with the best fit of Synergy §4.2. A Settler takes where
// the GPUs of every job are for given, and chooses each job's cell of its
// sensitivity matrix so that the sum of their speeds, each relative to that with
// its GPU-proportional share, is as large as the CPUs and memory of each node
// allow. No job falls below the speed of its GPU-proportional share.
//
//	Synergy                               here
//	W_j[c, m]                             perf.Cell, Cell.Value relative to W_j[C_g, M_g]
//	demand vector                         Job.Wish
//	server with the least free resources  Nodes.BestFit
//	switch a job to its fair share        a Settler settles on a cell
package hostalloc
