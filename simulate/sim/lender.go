package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

// Lender configures when an inference cluster lends its nodes. Each group of nodes (pool) is lent separately, with the
// same load Busy.
type Lender struct {
	// Interval is the time between two reviews of the owner's needs. Default 5 min (Lyra §4, §7.1).
	Interval time.Duration
	// Headroom is the fraction of a pool's GPUs that is never lent. Default 0.02, the median burst within an
	// interval (Lyra §7.1).
	Headroom float64
	// Grace is the time from the owner's request for nodes until the owner takes missing ones by force. Default 5
	// min.
	Grace time.Duration
	// Busy returns the fraction of a pool's GPUs that the owner uses at a time since the start, clipped to 0 to 1;
	// NaN counts as 1. Nil: nothing is lent.
	Busy func(at time.Duration) float64
	// Forecast returns a new forecaster for a pool. Nil: the owner lends what it does not use at present.
	Forecast func() Forecaster
}

// A Forecaster predicts which fraction of its GPUs a lender will need itself.
type Forecaster interface {
	// Observe records the share used in one more interval.
	Observe(busy float64)
	// Predict returns the mean and standard deviation of the share for up to ahead intervals.
	Predict(ahead int) (mean, sd []float64)
}

// DefaultLender returns the defaults that the fields state.
func DefaultLender() Lender {
	return Lender{Interval: 5 * time.Minute, Headroom: 0.02, Grace: 5 * time.Minute}
}

func (o *Lender) validate() error {
	var errs []error
	if o.Interval < time.Second {
		errs = append(errs, fmt.Errorf("lender: interval %v, want at least 1s", o.Interval))
	}
	if !(o.Headroom >= 0 && o.Headroom <= 1) {
		errs = append(errs, fmt.Errorf("lender: headroom %v, want a share of 0 to 1", o.Headroom))
	}
	if o.Grace < 0 {
		errs = append(errs, fmt.Errorf("lender: grace %v, want at least 0", o.Grace))
	}
	return errors.Join(errs...)
}

func (o *Lender) busy(at time.Duration) float64 {
	if o.Busy == nil {
		return 1
	}
	return share(o.Busy(at))
}

func share(x float64) float64 {
	if math.IsNaN(x) {
		return 1
	}
	return min(1, max(0, x))
}

// A loanNode is a node for loan. Invariant: World.away counts the node once while it is not lent.
type loanNode struct {
	node *cluster.Node
	lent bool
}

type pool struct {
	loan     cluster.Loan // without Lent, Spare, Reclaim and By, which loans counts
	nodes    []*loanNode  // in the cluster's order
	forecast Forecaster   // nil: none
	limit    int          // of lent nodes, at the last review
	notices  []notice     // not due yet, by time
}

// A lender lends the nodes that their owner does not need. It takes nodes that were not returned in time. Broken
// nodes count as not lent. Source: Lyra §4, §6.
type lender struct {
	w      *World
	o      *Lender
	pools  []*pool // by group, in the order of cluster.Loans
	nodes  map[cluster.NodeID]*loanNode
	next   time.Time
	seized int // nodes taken by force
}

var _ scheduler.Expander = (*lender)(nil)

func newLender(w *World) *lender {
	l := &lender{w: w, o: &w.o.Lender, nodes: make(map[cluster.NodeID]*loanNode), next: w.now}
	for _, loan := range w.in.full.Loans() {
		p := &pool{loan: loan}
		if l.o.Forecast != nil {
			p.forecast = l.o.Forecast()
		}
		l.pools = append(l.pools, p)
	}
	for i := range w.in.full.Nodes() {
		if n := &w.in.full.Nodes()[i]; n.Tenure == cluster.Loaned {
			p, own := l.pool(n.Group), &loanNode{node: n}
			p.nodes = append(p.nodes, own)
			l.nodes[n.ID] = own
			w.nodes.away[n.ID]++
		}
	}
	if len(l.pools) > 0 {
		l.at(l.next)
	}
	return l
}

func (l *lender) at(t time.Time) {
	l.w.agenda.push(entry{at: t, what: func(*World) { l.act() }})
}

func (l *lender) pool(g cluster.Group) *pool {
	i := slices.IndexFunc(l.pools, func(p *pool) bool { return p.loan.Group == g })
	if i < 0 {
		return nil
	}
	return l.pools[i]
}

func (l *lender) available(id cluster.NodeID) bool {
	n := l.nodes[id]
	return n == nil || n.lent
}

func (p *pool) in(lent bool) []*loanNode {
	var found []*loanNode
	for _, n := range p.nodes {
		if n.lent == lent {
			found = append(found, n)
		}
	}
	return found
}

func (p *pool) lent() int {
	lent := 0
	for _, n := range p.nodes {
		if n.lent {
			lent++
		}
	}
	return lent
}

func (l *lender) idle(p *pool) []*loanNode {
	return slices.DeleteFunc(p.in(false), func(n *loanNode) bool { return l.w.nodes.away[n.node.ID] > 1 })
}

func (l *lender) spare(p *pool) int {
	return min(max(0, p.limit-p.lent()), len(l.idle(p)))
}

func (l *lender) loans() []cluster.Loan {
	var all []cluster.Loan
	for _, p := range l.pools {
		loan := p.loan
		loan.Lent, loan.Spare = p.lent(), l.spare(p)
		if loan.Reclaim = max(0, loan.Lent-p.limit); loan.Reclaim > 0 {
			loan.By = p.notices[p.first(loan.Lent)].due
		}
		all = append(all, loan)
	}
	return all
}

func (l *lender) back(n *loanNode) {
	n.lent = false
	l.w.nodes.away[n.node.ID]++
}

func (l *lender) Provision(g cluster.Group, nodes int) error {
	p := l.pool(g)
	if p == nil {
		return fmt.Errorf("sim: group %s: cannot be rented or lent", g)
	}
	lent := p.lent()
	if most := lent + l.spare(p); nodes < 0 || nodes > most {
		return fmt.Errorf("sim: group %s: %d nodes wanted on loan, want 0 to %d", g, nodes, most)
	}
	for _, n := range l.idle(p)[:max(0, nodes-lent)] {
		n.lent = true
		l.w.nodes.away[n.node.ID]--
	}
	l.w.changed()
	return nil
}

// Return implements scheduler.Expander. It stops at the first node that cannot be returned. Source:
// Lyra §6, "removes the selected servers from Lyra's whitelist after its scheduler confirms they no
// longer have running workers".
func (l *lender) Return(nodes []cluster.NodeID) error {
	used := l.w.used()
	for _, id := range nodes {
		n := l.nodes[id]
		if n == nil || !n.lent {
			return fmt.Errorf("sim: node %s: returned, want a node on loan", id)
		}
		if used[id] {
			on := l.w.on(func(other cluster.NodeID) bool { return other == id })
			return fmt.Errorf("sim: node %s: returned, want a node without jobs: job %s is on it", id, on[0].spec.ID)
		}
		l.back(n)
	}
	l.w.changed()
	return nil
}
