package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/cluster"
)

// A Pool is the state of the servers of one group, without the time until which those
// that are asked back are to be back.
type Pool struct {
	cluster.Loan
	// Idle are the servers that are lent next, by name; Spare of them may be.
	Idle []*Server
	// Asked has for each server of Reclaim the pods that are to come there.
	Asked [][]types.UID
}

// A state is whether a server can be lent; those that a pod of the owner is to come to first, first.
type state uint8

const (
	leaving state = iota // on its way back: not on loan by the plan, and still marked
	idle                 // of no use to its owner
	lent
	used // by its owner, or nobody can use it
)

// Pools returns the state of each group of servers, in the order in which they first
// appear. on says which servers are on loan by the plan, and in which group; headroom is the
// share of a group that is never lent. Source: Lyra §4, §7.1.
//
// Pods that wait are given room whole and one after another, oldest first: on servers that come
// back and on those that idle, and then on those on loan, of which any does in place of another
// of its group. What is taken of these is asked back. Nothing more of a group is spare
// meanwhile.
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
	if err != nil { // of two nodes with one name, say: nothing is lent, and nothing asked back
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

// state returns whether a server can be lent.
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

// room returns the pods that are to come to each server.
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

// add counts a server to which pods of the owner are to come.
func (p *Pool) add(s *Server, at state, to []types.UID) {
	p.Load += float64(s.Theirs) // GPUs, until it is closed
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

// close finds out what is spare, and asked back, once all servers are counted.
func (p *Pool) close(headroom float64) {
	p.Load = min(1, p.Load/float64(p.Nodes*p.Node.Capacity.GPUs))
	if p.Reclaim = len(p.Asked); p.Reclaim > 0 {
		return
	}
	need := float64(p.Nodes-p.Lent-len(p.Idle)) / float64(p.Nodes)
	p.Spare = min(max(0, cluster.Loanable(p.Nodes, headroom, need)-p.Lent), len(p.Idle))
}

// Next returns the servers to lend so that a group has so many more; fewer, if fewer are spare.
func (p *Pool) Next(more int) []*Server { return slices.Clip(p.Idle[:max(0, min(more, p.Spare))]) }
