package sim

// Seized returns how many nodes on loan their owner has taken by force so far.
func (w *World) Seized() int { return w.lender.seized }
