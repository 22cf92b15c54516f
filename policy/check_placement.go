package policy

import (
	"errors"

	"github.com/oxgang/oxgang/model/cluster"
)

// CheckPlacement checks only the nodes of a plan, by the rules of Check, and that each job is on nodes that it may use
// (job.Spec.Parts). Call it after a placer has chosen nodes for a plan that had passed Check.
func CheckPlacement(s *Snapshot, p *Plan) error {
	if p == nil || len(p.Jobs) != len(s.Jobs) {
		return errors.New("plan: not one decision per job")
	}
	c := checker{cluster: s.Cluster, continuing: s.Continuing, final: true}
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

func (c *checker) placed(j *Job, d *Decision) {
	keeps := keepsPlace(j, d)
	if keeps && d.Allocation == j.Allocation {
		return
	}
	if got, want := d.Placement.GPUs(), d.Allocation.AllGPUs(); got != want {
		c.fail(j, "placed %d GPUs, want the %d allocated", got, want)
	}
	if t, ok := c.cluster.Type(d.Allocation.GPUType); ok && t.Counts() {
		c.addsUp(j, d)
	}
	if d.Allocation.Mixed() {
		c.divided(j, d)
	}
	if !keeps {
		c.placement(j, d)
	}
}

func (c *checker) addsUp(j *Job, d *Decision) {
	a, got := &d.Allocation, cluster.Resources{}
	for _, share := range d.Placement {
		got.CPUs, got.Memory = got.CPUs+share.CPUs, got.Memory+share.Memory
	}
	if off := got.CPUs - a.CPUs; off > cpuSlack*a.CPUs || -off > cpuSlack*a.CPUs || got.Memory != a.Memory {
		c.fail(j, "placed %g CPUs and %d bytes, want the %g and %d allocated", got.CPUs, got.Memory, a.CPUs, a.Memory)
	}
}

func (c *checker) placement(j *Job, d *Decision) {
	if c.nodes == nil {
		c.nodes = c.continuing.usage(len(c.cluster.Nodes()))
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
		if c.final && !j.MayUse(share.Node) && !j.On(share.Node) {
			c.fail(j, "placed on node %s, want one of the nodes that it may use", share.Node)
		}
		if !d.Allocation.Has(node.GPUType) {
			c.fail(j, "node %s has GPU type %s, want %s", share.Node, node.GPUType, d.Allocation.GPUType)
		}
		if share.GPUs < 1 || !finite(share.CPUs) || share.CPUs < 0 || share.Memory < 0 {
			c.fail(j, "node %s: share of %d GPUs, %g CPUs and %d bytes, want at least 1 GPU and finite amounts of at least 0", share.Node, share.GPUs, share.CPUs, share.Memory)
			continue
		}
		h := hash(share.Node)
		c.filter[h/64] |= 1 << (h % 64)
		c.use(j, n, &share.Resources)
	}
}

func (c *checker) use(j *Job, n int, share *cluster.Resources) {
	u, node := &c.nodes[n], &c.cluster.Nodes()[n]
	u.GPUs, u.CPUs, u.Memory = u.GPUs+share.GPUs, u.CPUs+share.CPUs, u.Memory+share.Memory
	has := &node.Capacity
	if u.GPUs > has.GPUs {
		c.fail(j, "node %s: %d GPUs in use, want at most %d", node.ID, u.GPUs, has.GPUs)
	}
	if has.CPUs > 0 && (u.CPUs > has.CPUs*(1+cpuSlack) || u.Memory > has.Memory) {
		c.fail(j, "node %s: %g CPUs and %d bytes in use, want at most %g and %d", node.ID, u.CPUs, u.Memory, has.CPUs, has.Memory)
	}
}

func keepsPlace(j *Job, d *Decision) bool {
	return len(d.Placement) > 0 && len(d.Placement) == len(j.Placement) && &d.Placement[0] == &j.Placement[0]
}

func (c *checker) kept(s *Snapshot, p *Plan) {
	for i, j := range s.Jobs {
		if d := &p.Jobs[i]; keepsPlace(j, d) {
			for k := range d.Placement {
				share := &d.Placement[k]
				if h := hash(share.Node); c.filter[h/64]>>(h%64)&1 == 0 {
					continue
				}
				if n, ok := c.cluster.Index(share.Node); ok {
					c.use(j, n, &share.Resources)
				}
			}
		}
	}
}

func hash(id cluster.NodeID) uint8 {
	var h uint8
	for _, c := range []byte(id[max(0, len(id)-3):]) {
		h = 31*h + c
	}
	return h
}
