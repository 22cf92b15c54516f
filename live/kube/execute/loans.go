package execute

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
)

// A LoanState is the state of a lender's nodes. The nodes on loan are the committed Plan's loans, except Back.
type LoanState struct {
	pools     []inventory.Pool
	Published []cluster.Loan
	Back      map[cluster.NodeID]bool     // nodes that leave the next plan
	asked     map[types.UID]time.Time     // since when the owner's pods need borrowed nodes
	rest      map[cluster.Group]time.Time // until when the group lends no more
	jobstate.Retry
}

// NewLoans returns a state without loans.
func NewLoans() LoanState {
	return LoanState{Back: make(map[cluster.NodeID]bool), rest: make(map[cluster.Group]time.Time)}
}

func (ns *Nodes) onLoan() map[cluster.NodeID]cluster.Group {
	all := make(map[cluster.NodeID]cluster.Group, len(ns.Table.Plan.Spec.Loans))
	for _, l := range ns.Table.Plan.Spec.Loans {
		if id := cluster.NodeID(l.Name); !ns.Loans.Back[id] {
			all[id] = cluster.Group(l.Group)
		}
	}
	return all
}

// Usable returns the nodes for jobs: the queue's own, and those marked as lent to it.
func (ns *Nodes) Usable(s *observe.Observation) []cluster.Node {
	on := ns.onLoan()
	all := make([]cluster.Node, 0, len(s.Nodes))
	for _, n := range s.Nodes {
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

// Review updates the state of the lender's nodes, and ends loans of unusable or overdue nodes.
func (ns *Nodes) Review(s *observe.Observation) {
	if len(s.Lender.Servers)+len(ns.Table.Plan.Spec.Loans) == 0 {
		ns.Loans.pools = nil
		return
	}
	ns.giveBackUnused(s)
	ns.count(s)
	if ns.seize(time.Now()) {
		ns.count(s)
	}
	ns.Loans.pause(time.Now(), ns.Options.Grace())
}

func (ns *Nodes) count(s *observe.Observation) {
	ns.Loans.pools = s.Lender.Pools(ns.onLoan(), ns.Options.Headroom())
	ns.Loans.remember()
}

func (l *LoanState) pause(now time.Time, grace time.Duration) {
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

func (l *LoanState) remember() {
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

func (ns *Nodes) due(pods []types.UID) time.Time {
	first := ns.Loans.asked[pods[0]]
	for _, uid := range pods[1:] {
		if since := ns.Loans.asked[uid]; since.Before(first) {
			first = since
		}
	}
	return first.Add(ns.Options.Grace())
}

func (ns *Nodes) giveBackUnused(s *observe.Observation) {
	servers := s.Lender.ByID()
	held := ns.held()
	for id := range ns.onLoan() {
		n := servers[id]
		if n == nil || !held[id] && (!n.Open || n.Theirs > 0) {
			ns.Loans.Back[id] = true
		}
	}
}

func (ns *Nodes) held() map[cluster.NodeID]bool {
	all := make(map[cluster.NodeID]bool)
	for _, e := range ns.Table.Order {
		if e.Wants() {
			for _, share := range e.Held.Placement {
				all[share.Node] = true
			}
		}
	}
	return all
}

// seize takes overdue nodes by force. Source: Lyra §2.1.
func (ns *Nodes) seize(now time.Time) bool {
	before := len(ns.Loans.Back)
	for i := range ns.Loans.pools {
		p := &ns.Loans.pools[i]
		for _, pods := range p.Asked {
			if due := ns.due(pods); !due.After(now) {
				ns.reclaim(p.Group, due)
			}
		}
	}
	return len(ns.Loans.Back) > before
}

func (ns *Nodes) reclaim(g cluster.Group, due time.Time) {
	on, held := ns.onLoan(), ns.held()
	maps.DeleteFunc(on, func(_ cluster.NodeID, of cluster.Group) bool { return of != g })
	all := slices.Sorted(maps.Keys(on))
	if len(all) == 0 {
		return
	}
	id := all[max(0, slices.IndexFunc(all, func(id cluster.NodeID) bool { return !held[id] }))]
	ns.Loans.Back[id] = true
	for _, e := range ns.Table.Order {
		if e.Wants() && slices.ContainsFunc(e.Held.Placement, func(s cluster.Share) bool { return s.Node == id }) {
			ns.Lose(e, fmt.Sprintf("the owner of node %s took it back: it was due by %s", id, due.Format(time.RFC3339)))
		}
	}
}

// LoanStatus converts the state of all loans for the scheduler.
func (ns *Nodes) LoanStatus() []cluster.Loan {
	var all []cluster.Loan
	for i := range ns.Loans.pools {
		p := &ns.Loans.pools[i]
		loan := p.Loan
		for _, pods := range p.Asked {
			if due := ns.due(pods); loan.By.IsZero() || due.Before(loan.By) {
				loan.By = due
			}
		}
		all = append(all, loan)
	}
	return all
}

// SameLoans reports whether two lists are equal except for the load, which changes often.
func SameLoans(a, b []cluster.Loan) bool {
	return slices.EqualFunc(a, b, func(x, y cluster.Loan) bool {
		return x.Group == y.Group && x.Node == y.Node && x.Nodes == y.Nodes && x.Lent == y.Lent && x.Spare == y.Spare &&
			x.Reclaim == y.Reclaim && x.By.Equal(y.By)
	})
}
