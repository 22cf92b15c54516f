package mmkp

// Stored returns the number of choices that p keeps.
func (p *Program) Stored() int { return p.inv.stored }
