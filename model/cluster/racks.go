package cluster

import "slices"

// Racks returns the number of racks over which placement p is spread, or 0 if a rack is unknown or p is empty. It takes
// O(len(p)) per rack.
func (c *Cluster) Racks(p Placement) int {
	var seen [8]string // avoids allocation for few racks
	all := seen[:0]
	for i := range p {
		at, ok := c.index[p[i].Node]
		if !ok || c.nodes[at].Rack == "" {
			return 0
		}
		if !slices.Contains(all, c.nodes[at].Rack) {
			all = append(all, c.nodes[at].Rack)
		}
	}
	return len(all)
}
