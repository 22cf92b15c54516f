package sia

import "github.com/oxgang/oxgang/cluster"

// A configuration is one column of the goodput matrix.
type configuration struct {
	cluster.Configuration
	resource int // index of its GPU type: the coupling resource it uses
}

// matrixColumns returns the configurations with their resources.
func matrixColumns(c *cluster.Cluster) []configuration {
	var columns []configuration
	for _, conf := range c.Configurations() {
		for k, t := range c.Types() {
			if t.Type == conf.GPUType {
				columns = append(columns, configuration{conf, k})
			}
		}
	}
	return columns
}
