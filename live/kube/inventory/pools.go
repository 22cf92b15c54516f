package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Pool is the state of the servers of one group. Loan.By, the time at which servers that are
// asked back are due, is not set.
type Pool struct {
	cluster.Loan
	// Idle are the idle servers, sorted by name. The first of them are lent next, at most Spare.
	Idle []*Server
	// Asked has, for each server that is asked back (Loan.Reclaim), the pods that need it.
	Asked [][]types.UID
}

// A state says whether a server can be lent. Pods of the owner get servers in the order of these
// states.
type state uint8

const (
	leaving state = iota // on its way back: not on loan by the plan, but still labelled as lent
	idle                 // not lent, and without pods of its owner
	lent                 // on loan by the plan
	used                 // used by its owner, or no new pod may come
)

// Pools returns the state of each group of servers, in the order in which they first
// appear. on says which servers are on loan by the plan, and in which group; headroom is the
// share of a group that is never lent. Source: Lyra §4, §7.1.
//
// The waiting pods of the owner are assigned to servers, whole and one after another, oldest
// first: to servers on their way back, then to idle ones, then to lent ones. A lent server with a
// pod assigned is asked back; which one it is does not matter, as the servers of a group are
// alike. While servers of a group are asked back, no more of the group are spare.
//
// This first fit is a heuristic: it may ask for one server more than needed. It takes time linear
// in pods times servers.
func (l *Lender) Pools(on map[cluster.NodeID]cluster.Group, headroom float64) []Pool {
	states := make([]state, len(l.Servers))
	nodes := make([]cluster.Node, len(l.Servers))
	for i := range l.Servers {
		s := &l.Servers[i]
		states[i], nodes[i] = s.state(on), s.Node
		if g, lent := on[s.ID]; lent {
			nodes[i].Group = g
		}
	}
	c, err := cluster.New(nodes)
	if err != nil { // for example, two nodes have one name: nothing is lent, and nothing is asked back
		return nil
	}
	to := l.room(states)
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

// state returns the state of a server.
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

// room returns the pods that are assigned to each server.
func (l *Lender) room(states []state) [][]types.UID {
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

// add counts a server; to are the pods that are assigned to it.
func (p *Pool) add(s *Server, at state, to []types.UID) {
	p.Load += float64(s.Theirs) // in GPUs, until close makes it a share
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

// close computes what is spare and what is asked back, when all servers are counted.
func (p *Pool) close(headroom float64) {
	p.Load = min(1, p.Load/float64(p.Nodes*p.Node.Capacity.GPUs))
	if p.Reclaim = len(p.Asked); p.Reclaim > 0 {
		return
	}
	need := float64(p.Nodes-p.Lent-len(p.Idle)) / float64(p.Nodes)
	p.Spare = min(max(0, cluster.Loanable(p.Nodes, headroom, need)-p.Lent), len(p.Idle))
}

// Next returns the servers to lend so that a group lends more servers more, at most Spare.
func (p *Pool) Next(more int) []*Server { return slices.Clip(p.Idle[:max(0, min(more, p.Spare))]) }
