package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// LargestUse returns the smallest cluster that could have run the history, as text for a configuration. For each GPU
// type it has as many GPUs as jobs held at any time, on nodes with as many GPUs as a job had on one node. It is empty
// if no start is known.
func (h *History) LargestUse() string {
	types := map[cluster.GPUType]*usage{}
	for i := range h.Jobs {
		o := &h.Jobs[i]
		if o.Started.IsZero() {
			continue
		}
		u := types[heldType(o)]
		if u == nil {
			u = &usage{name: heldType(o)}
			types[u.name] = u
		}
		u.add(o)
	}
	names := make([]string, 0, len(types))
	for _, u := range types {
		names = append(names, u.cluster())
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

func heldType(o *parse.Observed) cluster.GPUType {
	if t := o.Arrival.Spec.GPUTypes; len(t) > 0 {
		return t[0]
	}
	return unnamedType
}

type usage struct {
	name    cluster.GPUType
	perNode int // most GPUs of a job on one node
	changes []change
}

type change struct {
	at   time.Time
	gpus int
}

func (u *usage) add(o *parse.Observed) {
	n := o.Arrival.Spec.GPUs
	each := min(n, largestNode)
	if o.Nodes > 0 {
		each = (n + o.Nodes - 1) / o.Nodes
	}
	u.perNode = max(u.perNode, each)
	u.changes = append(u.changes, change{o.Started, n}, change{o.Left(), -n})
}

// largestNode is the assumed limit of GPUs per node if a job's nodes are unknown.
const largestNode = 8

func (u *usage) cluster() string {
	return fmt.Sprintf("%s:%dx%d", u.name, (u.most()+u.perNode-1)/u.perNode, u.perNode)
}

func (u *usage) most() int {
	slices.SortFunc(u.changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.gpus, b.gpus)) })
	held, most := 0, 0
	for _, c := range u.changes {
		held += c.gpus
		most = max(most, held)
	}
	return most
}

// MostInUse returns the largest number of GPUs, of all types together, that jobs held at the same time.
func (h *History) MostInUse() int {
	var all usage
	for i := range h.Jobs {
		if o := &h.Jobs[i]; !o.Started.IsZero() {
			all.add(o)
		}
	}
	return all.most()
}
