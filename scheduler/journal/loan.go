package journal

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

type loanLine struct {
	Node     nodeLine  `json:"node"`
	Nodes    int       `json:"nodes"`
	Lent     int       `json:"lent,omitzero"`
	Spare    int       `json:"spare,omitzero"`
	Reclaim  int       `json:"reclaim,omitzero"`
	By       time.Time `json:"by,omitzero"`
	Load     float64   `json:"load,omitzero"`
	Expected []int     `json:"expected,omitempty"`
	Every    Seconds   `json:"every,omitzero"`
}

func loanLines(all []cluster.Loan) []loanLine {
	lines := make([]loanLine, len(all))
	for i := range all {
		l := &all[i]
		lines[i] = loanLine{makeNodeLine(&l.Node), l.Nodes, l.Lent, l.Spare, l.Reclaim, l.By, l.Load, l.Expected, Seconds(l.Every)}
	}
	return lines
}

func makeLoans(lines []loanLine) ([]cluster.Loan, error) {
	all := make([]cluster.Loan, len(lines))
	kinds := make([]nodeLine, len(lines))
	for i := range lines {
		l := &lines[i]
		for _, n := range append([]int{l.Nodes, l.Lent, l.Spare, l.Reclaim}, l.Expected...) {
			if n < 0 || n > maxGPUs {
				return nil, fmt.Errorf("group %q: %d nodes, want 0 to %d", l.Node.Group, n, maxGPUs)
			}
		}
		if !(l.Load >= 0 && l.Load <= 1) {
			return nil, fmt.Errorf("group %q: a load of %g, want 0 to 1", l.Node.Group, l.Load)
		}
		all[i] = cluster.Loan{
			Group: l.Node.Group, Node: l.Node.node(), Nodes: l.Nodes, Lent: l.Lent, Spare: l.Spare,
			Reclaim: l.Reclaim, By: l.By, Load: l.Load, Expected: l.Expected, Every: time.Duration(l.Every),
		}
		kinds[i] = l.Node
		kinds[i].ID = cluster.NodeID("group " + string(l.Node.Group))
	}
	_, err := makeCluster(kinds)
	return all, err
}
