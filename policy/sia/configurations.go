package sia

import (
	"github.com/oxgang/oxgang/cluster"
)

// A configuration is one column of the goodput matrix.
type configuration struct {
	cluster.Configuration
	resource int // index of its GPU type: the coupling resource it uses
}

// Configurations returns the valid configurations of a cluster, by GPU type:
// powers of two within a node, and whole nodes. Nodes whose GPU count is not a
// power of two count as virtual nodes of its binary parts, and as whole nodes.
// Source: Sia §3.3.3.
func Configurations(c *cluster.Cluster) []cluster.Configuration {
	var all []cluster.Configuration
	for _, t := range c.Types() {
		for gpus := 1; gpus <= t.PerNode; gpus *= 2 {
			all = append(all, cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: t.Type})
		}
		for _, size := range t.Sizes {
			all = append(all, wholeNodes(c, t.Type, size)...)
		}
	}
	return all
}

// wholeNodes returns the configurations of whole nodes of one size, less those
// that are powers of two within a node.
func wholeNodes(c *cluster.Cluster, t cluster.GPUType, size int) []cluster.Configuration {
	count := 0
	for _, n := range c.Nodes() {
		if n.GPUType == t && n.Capacity.GPUs == size {
			count++
		}
	}
	var all []cluster.Configuration
	for n := 1; n <= count; n++ {
		if n == 1 && size&(size-1) == 0 {
			continue
		}
		all = append(all, cluster.Configuration{Nodes: n, GPUs: n * size, GPUType: t})
	}
	return all
}

// matrixColumns returns the configurations with their resources.
func matrixColumns(c *cluster.Cluster) []configuration {
	var columns []configuration
	for _, conf := range Configurations(c) {
		for k, t := range c.Types() {
			if t.Type == conf.GPUType {
				columns = append(columns, configuration{conf, k})
			}
		}
	}
	return columns
}
