package sim

import "github.com/oxgang/oxgang/model/cluster"

// Seized returns how many nodes on loan their owner has taken by force so far.
func (w *World) Seized() int { return w.lender.seized }

// Cluster returns the cluster with all nodes, including broken nodes and nodes for rent or loan.
func (w *World) Cluster() *cluster.Cluster { return w.in.full }
