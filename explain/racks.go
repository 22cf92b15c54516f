package explain

import (
	"slices"

	"github.com/oxgang/oxgang/cluster"
)

// racks says in which racks a job on several nodes is, or that one NVLink domain has them all; nothing if it is
// on one, or no node of it has a rack.
func (w *clusterState) racks(p cluster.Placement) string {
	if len(p) < 2 {
		return ""
	}
	if domains, loose := w.groups(p, func(n *cluster.Node) string { return n.NVLinkDomain }); len(domains) == 1 && !loose {
		return ", all in NVLink domain " + domains[0]
	}
	names, loose := w.groups(p, func(n *cluster.Node) string { return n.Rack })
	switch {
	case len(names) == 0:
		return ""
	case loose:
		return ", partly in rack " + named(names, len(names))
	case len(names) == 1:
		return ", all in rack " + names[0]
	}
	return ", in racks " + named(names, len(names))
}

// groups returns the names of the groups in which the nodes of a placement are, and whether some node is in none.
func (w *clusterState) groups(p cluster.Placement, of func(*cluster.Node) string) (names []string, loose bool) {
	for k := range p {
		at, ok := w.cluster.Index(p[k].Node)
		if !ok || of(&w.cluster.Nodes()[at]) == "" {
			loose = true
			continue
		}
		if g := of(&w.cluster.Nodes()[at]); !slices.Contains(names, g) {
			names = append(names, g)
		}
	}
	return names, loose
}
