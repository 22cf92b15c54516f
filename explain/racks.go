package explain

import (
	"slices"

	"github.com/oxgang/oxgang/cluster"
)

// racks says in which racks a job on several nodes is; nothing if it is on one, or no node of it
// has a rack.
func (w *clusterState) racks(p cluster.Placement) string {
	var names []string
	loose := false
	for k := range p {
		at, ok := w.cluster.Index(p[k].Node)
		if !ok || w.cluster.Nodes()[at].Rack == "" {
			loose = true
			continue
		}
		if r := w.cluster.Nodes()[at].Rack; !slices.Contains(names, r) {
			names = append(names, r)
		}
	}
	switch {
	case len(p) < 2 || len(names) == 0:
		return ""
	case loose:
		return ", partly in rack " + named(names, len(names))
	case len(names) == 1:
		return ", all in rack " + names[0]
	}
	return ", in racks " + named(names, len(names))
}
