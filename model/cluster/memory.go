package cluster

import "github.com/oxgang/oxgang/internal/memory"

// Remember lets m save or restore the state that c keeps between rounds.
func (c *Configuration) Remember(m *memory.Codec) {
	m.Fields(&c.Nodes, &c.GPUs, (*string)(&c.GPUType))
}

// Remember lets m save or restore the state that a keeps between rounds.
func (a *Allocation) Remember(m *memory.Codec) {
	m.Fields(&a.Configuration, &a.Also, &a.CPUs, &a.Memory)
}

// Remember lets m save or restore the state that r keeps between rounds.
func (r *Resources) Remember(m *memory.Codec) { m.Fields(&r.GPUs, &r.CPUs, &r.Memory) }

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Placement) Remember(m *memory.Codec) {
	memory.Slice(m, (*[]Share)(p), (*Share).Remember)
}

// Remember lets m save or restore the state that s keeps between rounds.
func (s *Share) Remember(m *memory.Codec) { m.Fields((*string)(&s.Node), &s.Resources) }

// Remember lets m save or restore the state that n keeps between rounds.
func (n *Node) Remember(m *memory.Codec) {
	m.Fields((*string)(&n.ID), (*string)(&n.GPUType), &n.GPUMemory, &n.Capacity, (*string)(&n.Group), (*uint8)(&n.Tenure), (*float64)(&n.Price),
		&n.Interruptions, &n.Power, &n.Rack, &n.NVLinkDomain)
}

// Remember saves and restores the nodes (memory.Rememberer).
func (c *Cluster) Remember(m *memory.Codec) {
	nodes := c.nodes
	memory.Slice(m, &nodes, (*Node).Remember)
	if !m.Decoding() {
		return
	}
	*c = Cluster{nodes: make([]Node, 0, len(nodes)), index: make(map[NodeID]int, len(nodes))}
	for i := range nodes {
		c.enter(&nodes[i])
	}
}

// Remember lets m save or restore the state that o keeps between rounds.
func (o *Offer) Remember(m *memory.Codec) {
	m.Fields((*string)(&o.Group), &o.Node, &o.Most)
}

// Remember lets m save or restore the state that r keeps between rounds.
func (r *Rental) Remember(m *memory.Codec) {
	m.Fields(&r.Offer, &r.Ready, &r.Starting, &r.Leaving, &r.Refused)
}

// Remember lets m save or restore the state that l keeps between rounds.
func (l *Loan) Remember(m *memory.Codec) {
	m.Fields((*string)(&l.Group), &l.Node, &l.Nodes, &l.Lent, &l.Spare, &l.Reclaim, &l.By, &l.Load, &l.Expected, &l.Every)
}
