package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A LeftOut counts the jobs of the history that were not simulated for one reason.
type LeftOut struct {
	Jobs int    `json:"jobs"`
	Why  string `json:"why"`
}

// LeftOut counts the jobs of the history that are not in simulated, by the reason why these nodes cannot run them, most
// frequent first.
func (h *History) LeftOut(simulated []workload.Arrival, nodes *cluster.Cluster) []LeftOut {
	in := make(map[job.ID]bool, len(simulated))
	for i := range simulated {
		in[simulated[i].Spec.ID] = true
	}
	count := make(map[string]int)
	for i := range h.Recorded.Jobs {
		o := &h.Recorded.Jobs[i]
		if !in[o.Arrival.Spec.ID] && !o.Submitted.Before(h.first) {
			count[cannotRun(&o.Arrival.Spec, nodes)]++
		}
	}
	var all []LeftOut
	for _, why := range slices.Sorted(maps.Keys(count)) {
		all = append(all, LeftOut{count[why], why})
	}
	slices.SortStableFunc(all, func(a, b LeftOut) int { return cmp.Compare(b.Jobs, a.Jobs) })
	return all
}

func cannotRun(spec *job.Spec, nodes *cluster.Cluster) string {
	var has []string
	for _, t := range nodes.Types() {
		if spec.Eligible(t.Type) {
			return "need more than the cluster has"
		}
		has = append(has, string(t.Type))
	}
	wanted := make([]string, len(spec.GPUTypes))
	for i, t := range spec.GPUTypes {
		wanted[i] = string(t)
	}
	return fmt.Sprintf("want %s, the cluster has %s", strings.Join(wanted, " or "), strings.Join(has, ", "))
}

func total(all []LeftOut) int {
	n := 0
	for _, l := range all {
		n += l.Jobs
	}
	return n
}

// Named returns a line for each reason in all.
func Named(all []LeftOut) []string {
	lines := make([]string, len(all))
	for i, l := range all {
		lines[i] = fmt.Sprintf("jobs left out, because they %s: %d", l.Why, l.Jobs)
	}
	return lines
}
