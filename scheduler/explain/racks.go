package explain

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
)

// Cross sets Locality and Racks: how much slower jobs of the class train in several racks.
func (m *Moment) Cross(c perf.LocalityCost) { m.Locality, m.Racks = &c, crossed(c) }

func crossed(c perf.LocalityCost) string {
	by := ", where GPUs and batch sizes were the same (" + count(c.Pairs, "comparison") + ")"
	switch {
	case c.Times >= 1.01:
		return fmt.Sprintf("steps of its class took %s times as long in several racks as in one", ratio(c.Times, 1)) + by
	case c.Times <= 0.99:
		return fmt.Sprintf("steps of its class took %.0f %% less in several racks than in one", 100*(1-c.Times)) + by
	}
	return "steps of its class took as long in several racks as in one, to 1 %" + by
}

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
