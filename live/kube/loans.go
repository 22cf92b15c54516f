package kube

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

// Loans are how it stands with the nodes that a lender has. What is on loan is what the
// committed Plan says, less those that go back with the next.
type loans struct {
	pools []inventory.Pool
	told  []cluster.Loan              // as the scheduler was last told
	back  map[cluster.NodeID]bool     // nodes that the next plan does not have on loan any more
	asked map[types.UID]time.Time     // since when pods of the owner were seen to need nodes on loan
	rest  map[cluster.Group]time.Time // until when nothing more is lent, because its owner asked for nodes
	retry                             // of writing to nodes
}

func newLoans() loans {
	return loans{back: make(map[cluster.NodeID]bool), rest: make(map[cluster.Group]time.Time)}
}

// on returns the nodes that are on loan, and their groups.
func (w *World) on() map[cluster.NodeID]cluster.Group {
	all := make(map[cluster.NodeID]cluster.Group, len(w.plan.Spec.Loans))
	for _, l := range w.plan.Spec.Loans {
		if id := cluster.NodeID(l.Name); !w.loans.back[id] {
			all[id] = cluster.Group(l.Group)
		}
	}
	return all
}

// nodes returns those that jobs may be placed on: the queue's own, and those on loan that are
// marked so.
func (w *World) nodes(s *sight) []cluster.Node {
	on := w.on()
	all := make([]cluster.Node, 0, len(s.nodes))
	for _, n := range s.nodes {
		if n.Tenure == cluster.Loaned {
			group, lent := on[n.ID]
			if !lent {
				continue
			}
			n.Group = group
		}
		all = append(all, n)
	}
	return all
}

// review finds out how it stands with the lender's nodes. What cannot be used, or is overdue,
// is on loan no more.
func (w *World) review(s *sight) {
	if len(s.lender.Servers)+len(w.plan.Spec.Loans) == 0 {
		w.loans.pools = nil
		return
	}
	w.yield(s)
	w.count(s)
	if w.seize(time.Now()) {
		w.count(s)
	}
	w.loans.pause(time.Now(), w.o.grace())
}

// count finds out what can be lent, and is asked back.
func (w *World) count(s *sight) {
	w.loans.pools = s.lender.Pools(w.on(), w.o.headroom())
	w.loans.remember()
}

// pause lends nothing more of a group while its owner asks for nodes, and for as long again as
// they may take to come back: an owner whose needs go up and down stops no job each time.
func (l *loans) pause(now time.Time, grace time.Duration) {
	for i := range l.pools {
		p := &l.pools[i]
		if p.Reclaim > 0 {
			l.rest[p.Group] = now.Add(grace)
		}
		if now.Before(l.rest[p.Group]) {
			p.Spare = 0
		}
	}
}

// remember notes since when pods of the owner need nodes on loan.
func (l *loans) remember() {
	asked := make(map[types.UID]time.Time)
	for i := range l.pools {
		for _, pods := range l.pools[i].Asked {
			for _, uid := range pods {
				since, known := l.asked[uid]
				if !known {
					since = time.Now().Round(0).UTC()
				}
				asked[uid] = since
			}
		}
	}
	l.asked = asked
}

// due returns until when a node is to be back that pods are to come to.
func (w *World) due(pods []types.UID) time.Time {
	first := w.loans.asked[pods[0]]
	for _, uid := range pods[1:] {
		if since := w.loans.asked[uid]; since.Before(first) {
			first = since
		}
	}
	return first.Add(w.o.grace())
}

// yield gives those nodes back of which the queue has nothing: that are gone, or not the
// lender's any more, and, where no job is, those that no pod may come to or that pods of the
// owner are on.
func (w *World) yield(s *sight) {
	servers := s.lender.ByID()
	held := w.held()
	for id := range w.on() {
		n := servers[id]
		if n == nil || !held[id] && (!n.Open || n.Theirs > 0) {
			w.loans.back[id] = true
		}
	}
}

// held returns the nodes that jobs hold GPUs of.
func (w *World) held() map[cluster.NodeID]bool {
	all := make(map[cluster.NodeID]bool)
	for _, e := range w.order {
		if e.wants() {
			for _, share := range e.held.placement {
				all[share.Node] = true
			}
		}
	}
	return all
}

// seize takes by force what was to be back by now, and reports whether that was anything.
// Source: Lyra §2.1.
func (w *World) seize(now time.Time) bool {
	before := len(w.loans.back)
	for i := range w.loans.pools {
		p := &w.loans.pools[i]
		for _, pods := range p.Asked {
			if due := w.due(pods); !due.After(now) {
				w.reclaim(p.Group, due)
			}
		}
	}
	return len(w.loans.back) > before
}

// reclaim takes a node of a group that is on loan, by force: one without jobs, else the first.
// The jobs on it are lost.
func (w *World) reclaim(g cluster.Group, due time.Time) {
	on, held := w.on(), w.held()
	maps.DeleteFunc(on, func(_ cluster.NodeID, of cluster.Group) bool { return of != g })
	all := slices.Sorted(maps.Keys(on))
	if len(all) == 0 {
		return
	}
	id := all[max(0, slices.IndexFunc(all, func(id cluster.NodeID) bool { return !held[id] }))]
	w.loans.back[id] = true
	for _, e := range w.order {
		if e.wants() && slices.ContainsFunc(e.held.placement, func(s cluster.Share) bool { return s.Node == id }) {
			w.lose(e, fmt.Sprintf("the owner of node %s takes it by force: it was to be back by %s", id, due.Format(time.RFC3339)))
		}
	}
}

// settle takes in that a new plan has other nodes on loan: the scheduler is told at once.
func (w *World) settle() {
	for id := range w.loans.back {
		if _, planned := slices.BinarySearchFunc(w.plan.Spec.Loans, string(id), nameOf); !planned {
			delete(w.loans.back, id)
		}
	}
	w.takeNodes(w.sight)
}

// tidings returns how it stands with what can be lent, for the scheduler.
func (w *World) tidings() []cluster.Loan {
	var all []cluster.Loan
	for i := range w.loans.pools {
		p := &w.loans.pools[i]
		loan := p.Loan
		for _, pods := range p.Asked {
			if due := w.due(pods); loan.By.IsZero() || due.Before(loan.By) {
				loan.By = due
			}
		}
		all = append(all, loan)
	}
	return all
}

// sameLoans reports whether the scheduler would do the same with two tidings. The load alone
// is no news: it moves with every pod of the owner, and what can be lent does not.
func sameLoans(a, b []cluster.Loan) bool {
	return slices.EqualFunc(a, b, func(x, y cluster.Loan) bool {
		return x.Group == y.Group && x.Node == y.Node && x.Nodes == y.Nodes && x.Lent == y.Lent && x.Spare == y.Spare &&
			x.Reclaim == y.Reclaim && x.By.Equal(y.By)
	})
}
