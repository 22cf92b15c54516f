package cluster

import "github.com/oxgang/oxgang/internal/memory"

// Remember lets m save or restore c.
func (c *Configuration) Remember(m *memory.Codec) {
	m.Fields(&c.Nodes, &c.GPUs, (*string)(&c.GPUType))
}

// Remember lets m save or restore a.
func (a *Allocation) Remember(m *memory.Codec) {
	m.Fields(&a.Configuration, &a.Also, &a.CPUs, &a.Memory)
}

// Remember lets m save or restore r.
func (r *Resources) Remember(m *memory.Codec) { m.Fields(&r.GPUs, &r.CPUs, &r.Memory) }

// Remember lets m save or restore p.
func (p *Placement) Remember(m *memory.Codec) {
	memory.Slice(m, (*[]Share)(p), (*Share).Remember)
}

// Remember lets m save or restore s.
func (s *Share) Remember(m *memory.Codec) { m.Fields((*string)(&s.Node), &s.Resources) }

// Remember lets m save or restore n.
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

// Remember lets m save or restore o.
func (o *Offer) Remember(m *memory.Codec) {
	m.Fields((*string)(&o.Group), &o.Node, &o.Most)
}

// Remember lets m save or restore r.
func (r *Rental) Remember(m *memory.Codec) {
	m.Fields(&r.Offer, &r.Ready, &r.Starting, &r.Leaving, &r.Refused)
}

// Remember lets m save or restore l.
func (l *Loan) Remember(m *memory.Codec) {
	m.Fields((*string)(&l.Group), &l.Node, &l.Nodes, &l.Lent, &l.Spare, &l.Reclaim, &l.By, &l.Load, &l.Expected, &l.Every)
}
