package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Taker is a job that got GPUs on nodes where another job lost GPUs in the same round.
type Taker struct {
	Job    job.ID `json:"job"`
	Name   string `json:"name"`
	GPUs   int    `json:"gpus"`
	Reason string `json:"reason"`
}

func byNode(sum map[cluster.NodeID]int, p cluster.Placement, times int) {
	for _, share := range p {
		sum[share.Node] += times * share.GPUs
	}
}

func more(now, was cluster.Placement) map[cluster.NodeID]int {
	sum := map[cluster.NodeID]int{}
	byNode(sum, now, 1)
	byNode(sum, was, -1)
	return sum
}

type gains struct {
	of   map[job.ID]map[cluster.NodeID]int // GPUs by node; negative: lost
	got  map[cluster.NodeID][]job.ID
	lost map[cluster.NodeID][]job.ID
	had  map[job.ID]cluster.Allocation
}

func newGains() gains {
	return gains{of: map[job.ID]map[cluster.NodeID]int{}, got: map[cluster.NodeID][]job.ID{}, lost: map[cluster.NodeID][]job.ID{}, had: map[job.ID]cluster.Allocation{}}
}

func (g *gains) add(id job.ID, byNode map[cluster.NodeID]int, had cluster.Allocation) {
	g.of[id], g.had[id] = byNode, had
	for node, n := range byNode {
		switch {
		case n > 0:
			g.got[node] = append(g.got[node], id)
		case n < 0:
			g.lost[node] = append(g.lost[node], id)
		}
	}
}

func (w *clusterState) gainsOf(acts []scheduler.Action) gains {
	all := newGains()
	for _, a := range acts {
		switch a := a.(type) {
		case scheduler.Run:
			if r := w.jobs[a.Job]; r != nil {
				all.add(a.Job, more(a.Placement, r.on), r.holds)
			}
		case scheduler.Preempt:
			if r := w.jobs[a.Job]; r != nil {
				all.add(a.Job, more(nil, r.on), r.holds)
			}
		}
	}
	return all
}

// share adds to sum who got the GPUs that a job lost on a node, the largest takers first.
func (g *gains) share(node cluster.NodeID, gave int, sum map[job.ID]int) {
	if gave <= 0 {
		return
	}
	got := slices.Clone(g.got[node])
	slices.SortFunc(got, func(a, b job.ID) int { return cmp.Or(g.of[b][node]-g.of[a][node], cmp.Compare(a, b)) })
	for _, id := range got {
		n := min(gave, g.of[id][node])
		sum[id] += n
		gave -= n
	}
}

func (w *clusterState) takers(id job.ID) []Taker {
	gpus := map[job.ID]int{}
	for node, n := range w.gains.of[id] {
		w.gains.share(node, -n, gpus)
	}
	var all []Taker
	for other, n := range gpus {
		if r := w.jobs[other]; n > 0 && r != nil {
			all = append(all, Taker{Job: other, Name: Called(r.spec), GPUs: n, Reason: r.why.Kind.String()})
		}
	}
	slices.SortFunc(all, func(a, b Taker) int { return cmp.Or(b.GPUs-a.GPUs, cmp.Compare(a.Job, b.Job)) })
	return all
}

func (w *clusterState) donors(id job.ID) (gained bool, names []string) {
	for node, n := range w.gains.of[id] { // the order does not matter
		if n <= 0 {
			continue
		}
		gained = true
		for _, other := range w.gains.lost[node] {
			if r := w.jobs[other]; r != nil && other != id && !slices.Contains(names, Called(r.spec)) {
				names = append(names, Called(r.spec))
			}
		}
	}
	slices.Sort(names)
	return gained, names
}

func (w *clusterState) gave(id job.ID) bool {
	for _, n := range w.gains.of[id] { // the order does not matter
		if n < 0 {
			return true
		}
	}
	return false
}

// takenBy says who got GPUs: "; b started on 4 of them". of names them. There is at least one taker.
func takenBy(takers []Taker, of string) string {
	parts := make([]string, 0, mostNamed+1)
	for i, t := range takers {
		part := fmt.Sprintf("%s %s %d", t.Name, tookBy(t.Reason), t.GPUs)
		if i == 0 {
			part += " of " + of
		}
		if parts = append(parts, part); i+1 == mostNamed && len(takers) > mostNamed {
			parts = append(parts, fmt.Sprintf("%d more jobs got the others", len(takers)-mostNamed))
			break
		}
	}
	return "; " + strings.Join(parts, ", ")
}

func tookBy(reason string) string {
	switch reason {
	case policy.Started.String():
		return "started on"
	case policy.Moved.String():
		return "moved to"
	}
	return "got"
}

const tenantsFirst = "jobs of other users or namespaces come first, up to their shares"

func (s *explainContext) preempted() string {
	why := s.template().why(s)
	switch s.why.Kind { //nolint:exhaustive // all other kinds keep their sentence
	case policy.Reclaimed:
		return "preempted: " + why
	case policy.WaitNoCapacity, policy.WaitPrice, policy.WaitOrder:
		why = ""
	case policy.WaitServed:
		why = s.scheduler() + " ranks other jobs first"
	case policy.WaitPriority:
		why = "jobs of a higher priority come first"
	case policy.WaitShare:
		why = tenantsFirst
	}
	var text string
	switch n := len(s.takers); {
	case n == 0:
		return "preempted: " + cmp.Or(why, s.template().why(s)) + "; no other job got its " + both(s.lost)
	case n == 1 && s.takers[0].GPUs == s.lost.AllGPUs():
		text = fmt.Sprintf("preempted: %s %s its %s", s.takers[0].Name, tookBy(s.takers[0].Reason), both(s.lost))
	default:
		text = "preempted" + strings.Replace(takenBy(s.takers, "its "+both(s.lost)), ";", ":", 1)
	}
	if why != "" {
		text += "; " + why
	}
	return text
}
