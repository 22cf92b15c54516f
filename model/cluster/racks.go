package cluster

import "slices"

// Racks returns in how many racks the nodes of p are; 0 if the rack of one is not known, or p is empty.
// It costs O(n) for n shares, times the number of racks.
func (c *Cluster) Racks(p Placement) int {
	var seen [8]string // no allocation where racks are few
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
