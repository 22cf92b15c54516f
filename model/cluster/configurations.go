package cluster

// Configurations returns the valid configurations by GPU type: powers of two within a node, and whole nodes.
// Other GPU counts of a node count as virtual nodes of their binary parts, and as a whole node. Source: Sia
// §3.3.3.
func (c *Cluster) Configurations() []Configuration {
	var all []Configuration
	for _, t := range c.Types() {
		for gpus := 1; gpus <= t.PerNode; gpus *= 2 {
			all = append(all, Configuration{Nodes: 1, GPUs: gpus, GPUType: t.Type})
		}
		for _, size := range t.Sizes {
			all = append(all, c.wholeNodes(t.Type, size)...)
		}
	}
	return all
}

func (c *Cluster) wholeNodes(t GPUType, size int) []Configuration {
	count := 0
	for _, n := range c.Nodes() {
		if n.GPUType == t && n.Capacity.GPUs == size {
			count++
		}
	}
	var all []Configuration
	for n := 1; n <= count; n++ {
		if n == 1 && size&(size-1) == 0 {
			continue
		}
		all = append(all, Configuration{Nodes: n, GPUs: n * size, GPUType: t})
	}
	return all
}
