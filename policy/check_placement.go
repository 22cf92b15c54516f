package policy

import (
	"errors"

	"github.com/oxgang/oxgang/cluster"
)

// CheckPlacement returns nil if the placements of a plan keep the rules of
// Check, and otherwise an error that joins all complaints. It is for a plan
// that Check has passed and that a placer has then completed: what is granted
// is as it was, so only nodes are looked at.
func CheckPlacement(s *Snapshot, p *Plan) error {
	if p == nil || len(p.Jobs) != len(s.Jobs) {
		return errors.New("plan: not one decision per job")
	}
	c := checker{cluster: s.Cluster}
	for i, j := range s.Jobs {
		if d := &p.Jobs[i]; d.Placement != nil {
			c.placed(j, d)
		}
	}
	if c.nodes != nil {
		c.kept(s, p)
	}
	return errors.Join(c.errs...)
}

// placed checks where one job is, unless it is where it was.
func (c *checker) placed(j *Job, d *Decision) {
	keeps := keepsPlace(j, d)
	if keeps && d.Allocation.GPUs == j.Allocation.GPUs {
		return
	}
	if got, want := d.Placement.GPUs(), d.Allocation.GPUs; got != want {
		c.fail(j, "placed %d GPUs, want the %d allocated", got, want)
	}
	if !keeps {
		c.placement(j, d)
	}
}

// placement checks the nodes that a plan names.
func (c *checker) placement(j *Job, d *Decision) {
	if c.nodes == nil {
		c.nodes = make([]int, len(c.cluster.Nodes()))
	}
	if j.NonPreemptive && j.Holding() && j.Placement != nil && !d.Placement.Equal(j.Placement) {
		c.fail(j, "placed on %v, want to stay on %v: it is non-preemptive", d.Placement, j.Placement)
	}
	for i, share := range d.Placement {
		n, ok := c.cluster.Index(share.Node)
		if !ok {
			c.fail(j, "node %s is not in the cluster", share.Node)
			continue
		}
		if i > 0 && d.Placement[i-1].Node >= share.Node {
			c.fail(j, "node %s after %s, want each node once, in ascending order", share.Node, d.Placement[i-1].Node)
		}
		node := &c.cluster.Nodes()[n]
		if node.GPUType != d.Allocation.GPUType {
			c.fail(j, "node %s has GPU type %s, want %s", share.Node, node.GPUType, d.Allocation.GPUType)
		}
		if share.GPUs < 1 || !finite(share.CPUs) {
			c.fail(j, "node %s: share of %d GPUs and %g CPUs, want at least 1 GPU and finite numbers", share.Node, share.GPUs, share.CPUs)
			continue
		}
		h := hash(share.Node)
		c.filter[h/64] |= 1 << (h % 64)
		c.use(j, n, share.GPUs)
	}
}

// use counts GPUs of node n.
func (c *checker) use(j *Job, n, gpus int) {
	c.nodes[n] += gpus
	if node := &c.cluster.Nodes()[n]; c.nodes[n] > node.Capacity.GPUs {
		c.fail(j, "node %s: %d GPUs in use, want at most %d", node.ID, c.nodes[n], node.Capacity.GPUs)
	}
}

// keepsPlace reports whether a decision names the very placement that j holds.
func keepsPlace(j *Job, d *Decision) bool {
	return len(d.Placement) > 0 && len(d.Placement) == len(j.Placement) && &d.Placement[0] == &j.Placement[0]
}

// kept counts what jobs that keep their place hold of the nodes on which
// others are placed anew. On all other nodes nothing changed.
func (c *checker) kept(s *Snapshot, p *Plan) {
	for i, j := range s.Jobs {
		if d := &p.Jobs[i]; keepsPlace(j, d) {
			for k := range d.Placement {
				share := &d.Placement[k]
				if h := hash(share.Node); c.filter[h/64]>>(h%64)&1 == 0 {
					continue
				}
				if n, ok := c.cluster.Index(share.Node); ok {
					c.use(j, n, share.GPUs)
				}
			}
		}
	}
}

// hash maps the names of nodes, which mostly differ in their last characters,
// to 0..255: a look-up that can be spared is most of the cost of Check.
func hash(id cluster.NodeID) uint8 {
	var h uint8
	for _, c := range []byte(id[max(0, len(id)-3):]) {
		h = 31*h + c
	}
	return h
}
