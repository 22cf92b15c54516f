package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A Taker is a job that got GPUs of nodes on which another has fewer since the same round.
type Taker struct {
	Job    job.ID `json:"job"`
	Name   string `json:"name"`
	GPUs   int    `json:"gpus"`   // that it got on these nodes
	Reason string `json:"reason"` // why it got them: name of the policy's reason
}

// byNode adds up the GPUs of a placement by node, so many times.
func byNode(sum map[cluster.NodeID]int, p cluster.Placement, times int) {
	for _, share := range p {
		sum[share.Node] += times * share.GPUs
	}
}

// more returns the GPUs, by node, that a placement has more than another; negative: fewer.
func more(now, was cluster.Placement) map[cluster.NodeID]int {
	sum := map[cluster.NodeID]int{}
	byNode(sum, now, 1)
	byNode(sum, was, -1)
	return sum
}

// gains are the GPUs that jobs got or gave up in a round.
type gains struct {
	of  map[job.ID]map[cluster.NodeID]int // by node; negative: given up
	got map[cluster.NodeID][]job.ID       // who got some of a node
}

func newGains() gains {
	return gains{of: map[job.ID]map[cluster.NodeID]int{}, got: map[cluster.NodeID][]job.ID{}}
}

// add records what a job has by node more than before.
func (g *gains) add(id job.ID, byNode map[cluster.NodeID]int) {
	g.of[id] = byNode
	for node, n := range byNode {
		if n > 0 {
			g.got[node] = append(g.got[node], id)
		}
	}
}

// gainsOf returns what the actions of a round change; the state is that before the round.
func (w *clusterState) gainsOf(acts []scheduler.Action) gains {
	all := newGains()
	for _, a := range acts {
		switch a := a.(type) {
		case scheduler.Run:
			if r := w.jobs[a.Job]; r != nil {
				all.add(a.Job, more(a.Placement, r.on))
			}
		case scheduler.Preempt:
			if r := w.jobs[a.Job]; r != nil {
				all.add(a.Job, more(nil, r.on))
			}
		}
	}
	return all
}

// share adds to a sum who got so many GPUs that a job gave up on a node. If others gave some up there, too,
// nobody can say whose went to whom: those who got most are taken first.
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

// takers returns the jobs that got GPUs of the nodes on which a job has fewer since the last round,
// those that got most first.
func (w *clusterState) takers(id job.ID) []Taker {
	gpus := map[job.ID]int{}
	for node, n := range w.gains.of[id] {
		w.gains.share(node, -n, gpus)
	}
	var all []Taker
	for other, n := range gpus { // sorted below
		if r := w.jobs[other]; n > 0 && r != nil {
			all = append(all, Taker{Job: other, Name: Called(r.spec), GPUs: n, Reason: r.why.Kind.String()})
		}
	}
	slices.SortFunc(all, func(a, b Taker) int { return cmp.Or(b.GPUs-a.GPUs, cmp.Compare(a.Job, b.Job)) })
	return all
}

// gave reports whether a job has fewer GPUs on some node since the last round.
func (w *clusterState) gave(id job.ID) bool {
	for _, n := range w.gains.of[id] { // whether one is negative: the order does not matter
		if n < 0 {
			return true
		}
	}
	return false
}

// went says who got the GPUs that a job gave up in the last round; nothing if it gave up none.
func (w *clusterState) went(id job.ID) string {
	if !w.gave(id) {
		return ""
	}
	return toWhom(w.takers(id))
}

// toWhom names those who got GPUs.
func toWhom(takers []Taker) string {
	if len(takers) == 0 {
		return "; no other job got GPUs that it had"
	}
	names := make([]string, len(takers))
	for i, t := range takers {
		names[i] = fmt.Sprintf("%s (%d, %s)", t.Name, t.GPUs, t.Reason)
	}
	return "; GPUs that it had went to " + named(names, len(names))
}
