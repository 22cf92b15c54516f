package nodepool

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// KeepRented makes what a draft has of the groups what is ordered.
func (ns *Nodes) KeepRented(allRefused map[string]bool) {
	ns.Rented.Committing = false
	for name, refused := range allRefused {
		o := ns.OrderOf(ns.Group(cluster.Group(name)))
		o.refused, o.since = refused, time.Now()
	}
}
