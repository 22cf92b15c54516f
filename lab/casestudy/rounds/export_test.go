package rounds

// Configs returns the configurations that jobs can get. Callers must not modify the slice.
func (g *jobGenerator) Configs() []config { return g.configs }
