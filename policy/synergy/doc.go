// Package synergy shares out CPUs and host memory by need: jobs whose speed hangs
// on them get more than their GPUs' share, from jobs that do not use theirs, and
// nobody runs slower than with that share. It follows "Synergy: Looking Beyond
// GPUs for DNN Scheduling on Multi-Tenant Clusters" (OSDI 2022).
package synergy
