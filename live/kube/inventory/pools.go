package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Pool is the state of one group of the lender's nodes. Loan.By is not set.
type Pool struct {
	cluster.Loan
	// Idle servers are sorted by name; the first are lent next, at most Spare.
	Idle []*Server
	// Asked has the pods that need each reclaimed server (Loan.Reclaim).
	Asked [][]types.UID
}

// A state is whether a server can be lent. The owner's pods get servers in this order.
type state uint8

const (
	leaving state = iota // still labelled as lent, but not in the plan
	idle                 // not lent, and without pods of its owner
	lent
	used // by its owner, or closed to new pods
)

// Pools returns the state of each group of the lender's nodes. borrowed maps the nodes that the plan borrows to their
// groups. headroom is the fraction of a group that is never lent. Source: Lyra §4, §7.1.
//
// Each waiting pod of the owner gets one node, oldest pod first: a node that is already leaving, else an idle one, else
// a lent one, which is then reclaimed. A group with reclaimed nodes has no spare ones. This is first fit, so it may
// reclaim more than necessary. It takes time linear in pods times nodes.
func (l *Lender) Pools(borrowed map[cluster.NodeID]cluster.Group, headroom float64) []Pool {
	states := make([]state, len(l.Servers))
	nodes := make([]cluster.Node, len(l.Servers))
	for i := range l.Servers {
		s := &l.Servers[i]
		states[i], nodes[i] = s.state(borrowed), s.Node
		if g, lent := borrowed[s.ID]; lent {
			nodes[i].Group = g
		}
	}
	c, err := cluster.New(nodes)
	if err != nil { // two nodes may have the same name: nothing is lent or reclaimed
		return nil
	}
	to := l.assign(states)
	var all []Pool
	for _, loan := range c.Loans() {
		p := Pool{Loan: loan}
		for i := range l.Servers {
			if nodes[i].Group == loan.Group {
				p.add(&l.Servers[i], states[i], to[i])
			}
		}
		p.close(headroom)
		all = append(all, p)
	}
	return all
}

func (s *Server) state(on map[cluster.NodeID]cluster.Group) state {
	_, isLent := on[s.ID]
	switch {
	case isLent:
		return lent
	case !s.Open || s.Theirs > 0:
		return used
	case s.lentTo() != "":
		return leaving
	}
	return idle
}

func (l *Lender) assign(states []state) [][]types.UID {
	to, left := make([][]types.UID, len(l.Servers)), make([]int, len(l.Servers))
	for i := range l.Servers {
		left[i] = l.Servers[i].Capacity.GPUs
	}
	for i := range l.Wants {
		w := &l.Wants[i]
		best := -1
		for k := range l.Servers {
			if states[k] == used || left[k] < w.GPUs || !w.fits(&l.Servers[k]) {
				continue
			}
			if best < 0 || states[k] < states[best] || states[k] == states[best] && len(to[best]) == 0 && len(to[k]) > 0 {
				best = k
			}
		}
		if best >= 0 {
			to[best], left[best] = append(to[best], w.UID), left[best]-w.GPUs
		}
	}
	return to
}

func (p *Pool) add(s *Server, at state, to []types.UID) {
	p.Load += float64(s.Theirs) // in GPUs; close turns it into a share
	switch {
	case at == lent:
		p.Lent++
		if len(to) > 0 {
			p.Asked = append(p.Asked, to)
		}
	case at == idle && len(to) == 0:
		p.Idle = append(p.Idle, s)
	}
}

func (p *Pool) close(headroom float64) {
	p.Load = min(1, p.Load/float64(p.Nodes*p.Node.Capacity.GPUs))
	if p.Reclaim = len(p.Asked); p.Reclaim > 0 {
		return
	}
	need := float64(p.Nodes-p.Lent-len(p.Idle)) / float64(p.Nodes)
	p.Spare = min(max(0, cluster.Loanable(p.Nodes, headroom, need)-p.Lent), len(p.Idle))
}

// Next returns the next n nodes to lend, but at most Spare.
func (p *Pool) Next(n int) []*Server { return slices.Clip(p.Idle[:max(0, min(n, p.Spare))]) }
