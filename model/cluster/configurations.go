package cluster

// Configurations returns the configurations that Sia considers, by GPU type: 1, 2, 4, … GPUs of one node, or any number
// of whole nodes. If a node's size is not a power of two, the node counts as several smaller nodes, by the binary
// digits of its size (6 as 4 and 2), and as a whole node. Source: Sia §3.3.3.
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
