package rounds

// Configs returns the configurations that jobs can get. Callers must not modify the slice.
func (g *Generator) Configs() []Config { return g.configs }
